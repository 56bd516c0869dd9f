// Fills the page of a run that goes on, from the events of the program that it comes from.
(() => {
  'use strict';
  const by = (id) => document.getElementById(id);
  const put = (place, text) => {
    if (place.textContent !== text) place.textContent = text;
  };
  const element = (name, text, classes) => {
    const made = document.createElement(name);
    made.textContent = text;
    if (classes) made.className = classes;
    return made;
  };

  const figures = (all) => {
    by('figures').replaceChildren(...all.map(({ name, value }) => {
      const pair = document.createElement('div');
      pair.append(element('dt', name), element('dd', value));
      return pair;
    }));
  };

  // Rows come and go, and their cells change: those that stay are written over.
  const table = (id, content) => {
    const section = by(id);
    section.hidden = !content || content.rows.length === 0;
    if (section.hidden) return;
    const classes = (column) => (column < content.n_texts ? 't' : 'number');
    const [head, body] = [section.querySelector('thead'), section.querySelector('tbody')];
    const heads = content.heads.join('|');
    if (head.dataset.heads !== heads) {
      head.dataset.heads = heads;
      const row = document.createElement('tr');
      content.heads.forEach((text, column) => {
        const cell = element('th', text, classes(column));
        cell.scope = 'col';
        row.append(cell);
      });
      head.replaceChildren(row);
      body.replaceChildren();
    }
    while (body.rows.length > content.rows.length) body.deleteRow(-1);
    content.rows.forEach((cells, at) => {
      const row = body.rows[at] ?? body.insertRow();
      cells.forEach((text, column) => {
        let cell = row.cells[column];
        if (!cell) {
          cell = row.insertCell();
          cell.className = classes(column);
          cell.dataset.head = content.heads[column];
        }
        put(cell, text);
      });
    });
  };

  const charts = (all) => {
    const ids = new Set(all.map((chart) => chart.id));
    by('time').hidden = all.length === 0;
    document.querySelectorAll('figure.chart').forEach((figure) => { figure.hidden = !ids.has(figure.id); });
    for (const chart of all) {
      const figure = by(chart.id);
      put(figure.querySelector('h3'), chart.title);
      put(figure.querySelector('.about'), chart.about);
      const notes = figure.querySelector('figcaption');
      if (notes.dataset.notes !== chart.notes.join('|')) {
        notes.dataset.notes = chart.notes.join('|');
        notes.replaceChildren(...chart.notes.map((note) => element('p', note)));
      }
    }
    document.dispatchEvent(new CustomEvent('charts', { detail: all }));
  };

  let drawn = '';
  const show = (state) => {
    put(by('sentence'), state.answer ? state.answer[0] : state.headline);
    by('verdict').hidden = !state.answer;
    if (state.answer) put(by('verdict'), `${state.headline}. ${state.answer[1]}`);
    document.title = `${state.headline} – Plimsoll`;
    figures(state.is_over ? [] : state.figures);
    if (state.is_over) {
      put(by('hosts-lead'), 'The last second; the host farthest from the others first.');
      put(by('jobs-lead'), 'The whole run, as its record has it.');
    }
    table('hosts', state.hosts);
    table('jobs', state.jobs);
    const notes = by('notes');
    notes.hidden = state.notes.length === 0;
    notes.querySelector('ul').replaceChildren(...state.notes.map((note) => element('li', note)));
    const newest = JSON.stringify(state.charts);
    if (state.charts && newest !== drawn) {
      drawn = newest;
      charts(state.charts);
    }
    document.documentElement.dataset.over = String(state.is_over);
  };

  const events = new EventSource('events');
  events.onmessage = (event) => {
    const state = JSON.parse(event.data);
    show(state);
    if (state.is_over) events.close();
  };
  events.onerror = () => {
    if (document.documentElement.dataset.over !== 'true') {
      put(by('sentence'), 'no connection to the run: it has ended, or this host cannot be reached');
    }
  };
})();
