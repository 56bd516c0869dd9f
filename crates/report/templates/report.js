// From chart data to plotly.js: colours, axes and marks, for light, dark and paper.
(() => {
  'use strict';
  let charts = JSON.parse(document.getElementById('charts').textContent);
  const isDark = matchMedia('(prefers-color-scheme: dark)');

  // Okabe and Ito's colours, lightened where the ground is dark. Shades go from the lightest
  // (p50) to the strongest (max).
  const LIGHT = {
    ink: '#1b1f24', soft: '#59626d', line: '#dfe3e8', paper: '#ffffff',
    colours: ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9'],
    shades: [['#8cc7ea', '#4aa3d8', '#0072b2', '#00446e'], ['#f5b78a', '#ec8f4e', '#d55e00', '#8f3f00']],
    good: '#00785a', bad: '#c04300', kept: 'rgba(0,114,178,.09)', range: 'rgba(0,120,90,.16)', hatch: '#aab2bb',
    scale: [[0, '#eaf3fa'], [.35, '#9fcae8'], [.7, '#2f86c1'], [1, '#08355a']],
    // Under numbers: no shade between that neither black nor white is read on.
    cells: [[0, '#eaf3fa'], [.5, '#a5cfeb'], [.54, '#2b7ab0'], [1, '#08355a']],
  };
  const DARK = {
    ink: '#e7eaee', soft: '#a3adb8', line: '#2d333b', paper: '#14171b',
    colours: ['#56b4e9', '#ff8b3d', '#3fcfa5', '#e39cc5', '#f2b93b', '#9bd3f5'],
    shades: [['#2c6a94', '#3f8fc4', '#56b4e9', '#b4e1ff'], ['#95521b', '#cc742f', '#ff8b3d', '#ffcfa8']],
    good: '#4ec9a4', bad: '#ff9866', kept: 'rgba(86,180,233,.13)', range: 'rgba(78,201,164,.2)', hatch: '#59626d',
    scale: [[0, '#16293a'], [.35, '#20587f'], [.7, '#4f9fd2'], [1, '#d9f0ff']],
    cells: [[0, '#16293a'], [.5, '#246491'], [.54, '#86c2ea'], [1, '#d9f0ff']],
  };
  const WIDTHS = { narrow: 560, paper: 680 };
  let isPaper = false;

  const three = (value) => {
    if (value >= 99.95) return value.toFixed(0);
    return value >= 9.995 ? value.toFixed(1) : value.toFixed(2);
  };
  const latency = (ns) => {
    if (ns < 1000) return `${Math.round(ns)} ns`;
    for (const [unit, of] of [['µs', 1e3], ['ms', 1e6]]) {
      if (ns / of < 999.5) return `${three(ns / of)} ${unit}`;
    }
    return `${three(ns / 1e9)} s`;
  };
  const rate = (value) => {
    for (const [unit, of] of [['', 1], [' k', 1e3], [' M', 1e6]]) {
      if (value / of < 999.5) return `${three(value / of)}${unit}`;
    }
    return `${three(value / 1e9)} G`;
  };
  const nines = (x) => `${(100 - 100 / x).toFixed(Math.max(0, Math.ceil(Math.log10(x)) - 1))} %`;
  const shown = (axis, value) => {
    if (axis.categories) return axis.categories[Math.round(value)] ?? '';
    switch (axis.quantity) {
      case 'latency_ns': return latency(value);
      case 'rate': return rate(value);
      case 'time_s': return `${Math.round(value * 10) / 10} s`;
      case 'nines': return nines(value);
      case 'difference_pct': return `${value > 0 ? '+' : ''}${value.toFixed(1)} %`;
      default: return `${Math.round(value * 1000) / 1000}`;
    }
  };

  const colour = (theme, name) => {
    const [, of, shade] = /^c(\d)(?:s(\d))?$/.exec(name) ?? [];
    if (shade !== undefined) return theme.shades[of % 2][shade];
    if (of !== undefined) return theme.colours[of];
    return { good: theme.good, bad: theme.bad }[name] ?? theme.soft;
  };
  const faint = (hex, alpha) => {
    const part = (at) => parseInt(hex.slice(at, at + 2), 16);
    return `rgba(${part(1)},${part(3)},${part(5)},${alpha})`;
  };

  // A band is one outline per unbroken stretch: there along the upper ends, back along the lower.
  const band = (series, theme) => {
    const x = [];
    const y = [];
    let from = 0;
    const close = (to) => {
      const upper = [];
      const lower = [];
      for (let at = from; at < to; at += 1) {
        upper.push([series.x[at], series.ends[at][1]]);
        lower.unshift([series.x[at], series.ends[at][0]]);
      }
      for (const [px, py] of [...upper, ...lower]) { x.push(px); y.push(py); }
      if (to > from) { x.push(null); y.push(null); }
    };
    series.ends.forEach((ends, at) => {
      if (ends === null) { close(at); from = at + 1; }
    });
    close(series.ends.length);
    return {
      type: 'scatter', mode: 'lines', x, y, fill: 'toself', line: { width: 0 }, hoverinfo: 'skip',
      fillcolor: faint(colour(theme, series.colour), .2), showlegend: false, meta: { kind: 'band' },
      legendgroup: series.name,
    };
  };

  const trace = (chart, series, theme) => {
    const stroke = colour(theme, series.colour);
    const hollow = new Set(series.hollow ?? []);
    const symbol = (_, at) => (series.marker ?? 'circle') + (hollow.has(at) ? '-open' : '');
    const modes = [series.is_line && 'lines', (series.marker || !series.is_line) && 'markers'];
    // A point between two gaps would be no line.
    const isAlone = (y, at) => y !== null && (series.y[at - 1] ?? null) === null
      && (series.y[at + 1] ?? null) === null;
    const hasAlone = series.is_line && !series.marker && series.y.some(isAlone);
    if (hasAlone) modes.push('markers');
    const size = hasAlone ? series.y.map((y, at) => (isAlone(y, at) ? 5 : 0)) : 7;
    const point = (y, at) => {
      if (y === null) return '';
      const value = chart.y.categories
        ? `${chart.y.categories[Math.round(y)]}: ${shown(chart.x, series.x[at])}`
        : `${shown(chart.y, y)} at ${shown(chart.x, series.x[at])}`;
      const text = series.texts?.[at];
      return `${value}${text ? `<br>${escaped(text)}` : ''}`;
    };
    if (series.is_bar) {
      return {
        type: 'bar', orientation: 'h', name: escaped(series.name), x: series.x, y: series.y, width: .55,
        marker: { color: stroke }, hovertext: series.y.map(point), hovertemplate: '%{hovertext}<extra></extra>',
        legendgroup: series.name, meta: { kind: 'bar' },
      };
    }
    const made = {
      type: 'scatter', mode: modes.filter(Boolean).join('+'), name: escaped(series.name), x: series.x,
      // A marker on an axis is shown whole.
      cliponaxis: !modes.includes('markers'),
      y: series.y, connectgaps: false, line: { color: stroke, width: 1.8, dash: series.dash, shape: 'linear' },
      marker: { color: stroke, size, symbol: series.x.map(symbol), line: { width: 1.2, color: stroke } },
      text: series.y.map(point), hovertemplate: '%{text}<extra>%{fullData.name}</extra>',
      legendgroup: series.name, meta: { kind: 'series' },
    };
    if (series.ends && !series.is_line) {
      const reach = (at, end) => (series.ends[at] ? Math.abs(series.ends[at][end] - series.x[at]) : 0);
      made.error_x = {
        type: 'data', symmetric: false, thickness: 1.6, width: 4, color: stroke,
        array: series.x.map((_, at) => reach(at, 1)), arrayminus: series.x.map((_, at) => reach(at, 0)),
      };
      made.marker.size = 9;
    }
    // Repeats of a load: the line through their medians is what is read, and they are behind it.
    if (!series.is_line && isRepeated(chart, series)) {
      made.marker.size = 5;
      made.opacity = .75;
    }
    return made;
  };

  const isRepeated = (chart, series) => chart.series.some((other) => other !== series && other.name === series.name);

  const escaped = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

  const heat = (chart, theme, isNarrow) => {
    const cells = chart.cells;
    const value = (count) => (count === null ? null : cells.is_log ? Math.log10(count) : count);
    const middle = (edges) => edges.slice(1).map((_, at) => at);
    const made = {
      type: 'heatmap', x: chart.x.categories ? middle(cells.x) : cells.x,
      y: chart.y.categories ? middle(cells.y) : cells.y,
      z: cells.values.map((row) => row.map(value)), colorscale: cells.texts ? theme.cells : theme.scale, hoverongaps: false,
      customdata: cells.values, meta: { kind: 'cells' }, xgap: cells.texts ? 2 : 0, ygap: cells.texts ? 2 : 0,
      colorbar: { title: { text: cells.title, side: 'right' }, thickness: 10, outlinewidth: 0, len: 1 },
      showscale: !cells.texts && !isNarrow,
      hovertemplate: `%{customdata} ${cells.title}<extra></extra>`,
    };
    if (cells.texts) {
      made.text = cells.texts;
      made.texttemplate = '%{text}';
      made.hovertemplate = `%{text} ${cells.title}<extra></extra>`;
    }
    if (cells.is_log) {
      const most = Math.max(0, ...made.z.flat().filter((z) => z !== null));
      const marks = Array.from({ length: Math.floor(most) + 1 }, (_, at) => at);
      made.zmin = 0;
      made.zmax = Math.max(1, most);
      made.colorbar.tickvals = marks;
      made.colorbar.ticktext = marks.map((at) => (at < 3 ? `${10 ** at}` : rate(10 ** at).replace(/\.0+/, '')));
    } else {
      made.zmin = 0;
      made.zmax = Math.max(...made.z.flat().filter((z) => z !== null));
    }
    return made;
  };

  // Spans lie on an axis of their own from 0 to 1, so that hatching reaches from end to end.
  const hatched = (span, theme) => ({
    type: 'scatter', mode: 'lines', x: [span.from, span.to, span.to, span.from], y: [0, 0, 1, 1],
    yaxis: 'y2', fill: 'toself', line: { width: 0 }, hoverinfo: 'skip', showlegend: false,
    fillpattern: { shape: '/', fgcolor: theme.hatch, bgcolor: 'rgba(0,0,0,0)', size: 7, solidity: .12 },
    meta: { kind: 'span' },
  });

  const most = (chart) => Math.max(0, ...chart.series.flatMap((series) => series.x));

  // Where what has a name begins: steps along time, knees of a curve.
  const starts = (chart) => (chart.rules ?? [])
    .filter((rule) => !rule.is_across && rule.text && rule.colour === 'plain').map((rule) => rule.at);
  // Pixels above the highest value, for their texts.
  const HEADROOM = 20;

  // Paper holds the answer and its picture on one page.
  const heightOf = (chart) => (isPaper && !chart.y.categories ? Math.round(chart.height_px * .75) : chart.height_px);
  const plotted = (chart) => heightOf(chart) - 60;

  const marks = (chart, theme, width, highest) => {
    const isLog = (axis) => axis.scale === 'log';
    const [start, end] = chart.x.range ?? [0, most(chart)];
    const share = (at) => (at - start) / Math.max(end - start, 1e-9);
    let named = -Infinity;
    // Where texts of rules across stand: none on another.
    const across = [];
    const plotHeight = plotted(chart);
    const [bottom, top] = chart.y.range ?? [0, highest];
    const yShare = (at) => (isLog(chart.y) ? Math.log(at / bottom) / Math.log(top / bottom) : (at - bottom) / Math.max(top - bottom, 1e-9));
    const shapes = [];
    const annotations = [];
    const words = { showarrow: false, font: { size: 11 } };
    const place = (axis, at) => (isLog(axis) ? Math.log10(at) : at);
    for (const span of chart.spans ?? []) {
      if (span.kind !== 'left') {
        shapes.push({
          type: 'rect', layer: 'below', xref: 'x', yref: 'paper', x0: span.from, x1: span.to, y0: 0, y1: 1,
          line: { width: 0 }, fillcolor: span.kind === 'kept' ? theme.kept : theme.range,
        });
      }
      // Texts of many short spans would cover each other: the first stands for those that follow.
      if (span.text && (isLog(chart.x) || share(span.from) * width - named > 8 * span.text.length + 16)) {
        named = share(span.from) * width;
        annotations.push({
          ...words, text: escaped(span.text), xref: 'x', yref: 'paper', y: 1, yanchor: 'top', xanchor: 'left',
          x: place(chart.x, span.from), font: { size: 11, color: theme.soft },
        });
      }
    }
    for (const rule of chart.rules ?? []) {
      const color = colour(theme, rule.colour);
      const line = { color, width: rule.colour === 'plain' ? 1 : 1.6, dash: rule.dash };
      const font = { size: 11, color };
      if (rule.is_across) {
        shapes.push({ type: 'line', xref: 'paper', yref: 'y', x0: 0, x1: 1, y0: rule.at, y1: rule.at, line });
        const height = yShare(rule.at) * plotHeight;
        if (across.some((other) => Math.abs(other - height) < 14)) continue;
        across.push(height);
        annotations.push({
          ...words, font, text: escaped(rule.text), xref: 'paper', yref: 'y',
          x: rule.colour === 'bad' ? 0 : 1, xanchor: rule.colour === 'bad' ? 'left' : 'right',
          y: place(chart.y, rule.at), yanchor: 'bottom',
        });
        continue;
      }
      shapes.push({ type: 'line', xref: 'x', yref: 'paper', x0: rule.at, x1: rule.at, y0: 0, y1: 1, line });
      if (rule.text && rule.colour === 'good') {
        const isRight = rule.at > most(chart) / 3;
        annotations.push({
          ...words, font: { ...font, size: 12 }, text: `<b>${escaped(rule.text)}</b>`, xref: 'x', yref: 'paper',
          // Where latency is low there is room above: the label hides no point there.
          x: place(chart.x, rule.at), y: .99, yanchor: 'top', xanchor: isRight ? 'right' : 'left',
          xshift: isRight ? -5 : 5, bgcolor: faint(theme.paper, .8),
        });
      } else if (rule.text) {
        // At the top, above what is drawn: a step's name as far as there is room to the next one's,
        // and what is beside a load line below that one's, to the left, where latency is lower.
        const isBeside = (chart.rules ?? []).some((other) => !other.is_across && other.colour === 'good');
        const next = Math.min(1, ...starts(chart).filter((at) => at > rule.at).map(share));
        const room = Math.floor(((next - share(rule.at)) * (width - 90) - 6) / 6.2);
        const fits = isBeside || rule.text.length <= room;
        const text = fits ? rule.text : `${rule.text.slice(0, Math.max(room - 1, 0))}…`;
        if (text.length < 4) continue;
        annotations.push({
          ...words, font, text: escaped(text), xref: 'x', x: place(chart.x, rule.at), yref: 'paper',
          y: 1, yanchor: 'top', yshift: isBeside ? -22 : 0, xanchor: isBeside ? 'right' : 'left',
          xshift: isBeside ? -3 : 3, bgcolor: faint(theme.paper, .8), borderpad: 0,
        });
      }
    }
    return { shapes, annotations };
  };

  const axis = (of, theme, isNarrow, highest) => {
    const made = {
      title: { text: escaped(of.title), standoff: 8, font: { size: 12, color: theme.soft } },
      type: of.scale === 'log' ? 'log' : 'linear', gridcolor: theme.line, linecolor: theme.line,
      zeroline: false, tickfont: { size: isNarrow ? 11 : 12, color: theme.soft },
      // Names are as long as they are; for numbers the margin is known, which saves a second layout.
      automargin: Boolean(of.categories),
      fixedrange: isNarrow, ticks: '', hoverformat: '',
    };
    if (of.scale === 'linear') made.rangemode = 'tozero';
    // Below 10 its unit would be thousandths.
    if (of.scale === 'linear' && of.quantity !== 'difference_pct' && highest >= 10) made.tickformat = '~s';
    if (of.range) made.range = made.type === 'log' ? of.range.map(Math.log10) : of.range;
    if (of.ticks) {
      made.tickvals = of.ticks.map((tick) => tick.at);
      made.ticktext = of.ticks.map((tick) => escaped(tick.text));
      made.tickangle = 0;
      if (isNarrow && of.quantity === 'nines') made.ticktext = made.ticktext.map((text, at) => (at % 2 ? '' : text));
    }
    if (of.categories) {
      const most = isNarrow ? 28 : 44;
      // Names often differ in their last word.
      const cut = (text) => `${text.slice(0, most - 11)}…${text.slice(-10)}`;
      const short = (text) => (text.length > most ? cut(text) : text);
      made.tickvals = of.categories.map((_, at) => at);
      made.ticktext = of.categories.map((text) => escaped(short(text)));
      made.range = [-.6, of.categories.length - .4];
      made.showgrid = false;
    }
    return made;
  };

  const draw = (chart) => {
    const place = document.querySelector(`[data-chart="${chart.id}"]`);
    const theme = isDark.matches && !isPaper ? DARK : LIGHT;
    const width = isPaper ? WIDTHS.paper : place.clientWidth;
    const isNarrow = width < WIDTHS.narrow;
    place.style.height = `${heightOf(chart)}px`;
    const traces = [];
    for (const series of chart.series) {
      if (series.ends && series.is_line) traces.push(band(series, theme));
    }
    for (const span of chart.spans ?? []) if (span.kind === 'left') traces.push(hatched(span, theme));
    chart.series.forEach((series, at) => {
      // Points and the line through their medians have one name, and one entry.
      const isFirst = chart.series.findIndex((other) => other.name === series.name) === at;
      traces.push({ ...trace(chart, series, theme), ...(isFirst ? {} : { showlegend: false }) });
    });
    if (chart.cells) traces.push(heat(chart, theme, isNarrow));
    const values = chart.series.flatMap((series) => [...series.y, ...(series.ends ?? []).map((ends) => ends?.[1] ?? 0)]);
    const highest = values.reduce((top, value) => Math.max(top, value ?? 0), 0);
    const { shapes, annotations } = marks(chart, theme, width, highest);
    const hasLegend = chart.series.length > 1;
    const layout = {
      width, height: heightOf(chart), shapes, annotations, showlegend: hasLegend,
      paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)',
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: theme.ink },
      margin: { l: chart.y.categories ? 8 : isNarrow ? 58 : 68, r: isNarrow ? 8 : 16, t: hasLegend ? 8 : 14, b: chart.x.categories ? 8 : 46 },
      xaxis: axis(chart.x, theme, isNarrow, most(chart)), yaxis: axis(chart.y, theme, isNarrow, highest),
      yaxis2: { overlaying: 'y', range: [0, 1], visible: false, fixedrange: true },
      legend: { orientation: 'h', x: 0, xanchor: 'left', y: 1.01, yanchor: 'bottom', font: { size: 12 } },
      hovermode: 'closest', hoverlabel: { font: { family: 'inherit', size: 12 }, namelength: 40 },
      dragmode: isNarrow ? false : 'zoom',
    };
    if (starts(chart).length > 0 && chart.series.length > 0) {
      const more = HEADROOM / plotted(chart);
      const [low, high] = layout.yaxis.range ?? [0, highest];
      layout.yaxis.range = [low, high + (high - low) * more];
    }
    // Rows of names read from the top.
    if (chart.y.categories) layout.yaxis.range = [chart.y.categories.length - .4, -.6];
    const config = { displaylogo: false, displayModeBar: false, responsive: false, showTips: false, plotlyServerURL: '' };
    return Plotly.react(place, traces, layout, config);
  };

  // The first picture at once, then what is on the screen or near it, then the others: one at a
  // time, so that the page answers while it draws. What a later change makes stale waits again.
  const waiting = new Set();
  const near = new Set();
  const painted = () => new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done, 0));
    // A page in the background has no frames.
    setTimeout(done, 100);
  });
  const next = () => {
    for (const chart of waiting) if (near.has(chart.id)) return chart;
    return waiting.values().next().value;
  };
  let isDrawing = false;
  const drawAll = async () => {
    charts.forEach((chart) => waiting.add(chart));
    delete document.documentElement.dataset.drawn;
    if (isDrawing) return;
    isDrawing = true;
    while (waiting.size > 0) {
      const chart = next();
      waiting.delete(chart);
      await draw(chart);
      await painted();
      if (!performance.getEntriesByName('first-picture').length) performance.mark('first-picture');
    }
    isDrawing = false;
    document.documentElement.dataset.drawn = String(charts.length);
    if (!performance.getEntriesByName('all-pictures').length) performance.mark('all-pictures');
  };
  const screen = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) {
      near[isIntersecting ? 'add' : 'delete'](target.dataset.chart);
    }
  }, { rootMargin: '50%' });

  let timer;
  let widthSeen = document.documentElement.clientWidth;
  addEventListener('resize', () => {
    // Scrolling on a telephone changes the height only.
    if (document.documentElement.clientWidth === widthSeen || isPaper) return;
    widthSeen = document.documentElement.clientWidth;
    clearTimeout(timer);
    timer = setTimeout(drawAll, 150);
  });
  isDark.addEventListener('change', drawAll);
  // The page of a run that goes on has newer charts now.
  document.addEventListener('charts', (event) => {
    // Those that still wait keep their turn, so that a slow page draws each of them.
    const waited = [...waiting].map((chart) => chart.id);
    charts = event.detail;
    waiting.clear();
    for (const id of waited) {
      const newer = charts.find((chart) => chart.id === id);
      if (newer) waiting.add(newer);
    }
    drawAll();
  });
  // Paper does not wait.
  const onPaper = (value) => () => {
    isPaper = value;
    // A width that changed meanwhile is the one that they are drawn for now.
    if (!value) widthSeen = document.documentElement.clientWidth;
    charts.forEach(draw);
  };
  addEventListener('beforeprint', onPaper(true));
  addEventListener('afterprint', onPaper(false));
  document.addEventListener('click', (event) => {
    const button = event.target.closest('[data-picture]');
    if (!button) return;
    const place = document.querySelector(`[data-chart="${button.dataset.of}"]`);
    const { width, height } = place.getBoundingClientRect();
    Plotly.downloadImage(place, { format: button.dataset.picture, width, height, filename: button.dataset.of, scale: 2 });
  });
  document.querySelectorAll('[data-chart]').forEach((place) => screen.observe(place));
  drawAll();
})();
