//! What `--tui` shows: pure, a function of the run and of the size of the terminal.

#[cfg(test)]
mod tests;

use crate::model::{JobNow, Live};
use crate::table::{self, Grid, Head};

/// What the user has asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) is_paused: bool,
    has_help: bool,
    is_stopping: bool,
}

/// Ctrl-C, where it is a key and no signal.
const INTERRUPT: u8 = 3;

impl State {
    /// Takes a key. Returns whether it asks for the end of the run.
    pub(crate) fn take(&mut self, key: u8) -> bool {
        match key {
            INTERRUPT | b'q' => self.is_stopping = true,
            b'p' | b' ' => self.is_paused = !self.is_paused,
            b'h' | b'?' => self.has_help = !self.has_help,
            _ => {}
        }
        matches!(key, INTERRUPT | b'q')
    }
}

/// The texts of a moment.
#[derive(Debug)]
pub(crate) struct Screen {
    command: String,
    headline: String,
    figures: Vec<(String, String)>,
    /// I/O rates of the seconds so far, the newest last.
    rates: Vec<u64>,
    jobs: Grid,
    hosts: Option<Grid>,
    note: Option<String>,
}

/// Columns from which on tables show what is of the step so far, too.
const WIDE: usize = 120;

const HELP: [&str; 5] = [
    "p        pause the picture; the run goes on",
    "q        end the run, and report what was measured; once more: at once",
    "Ctrl-C   the same",
    "h        this help, on and off",
    "Jobs: the slowest first. Hosts: the one farthest from the median first.",
];

const KEYS: &str = "p pause   q end the run   h help";

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";

/// Heights of a bar, the lowest first.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

impl Screen {
    pub(crate) fn of(live: &Live) -> Self {
        let of_jobs = live.jobs();
        let mut jobs: Vec<(&str, &JobNow)> =
            of_jobs.iter().map(|(name, job)| (*name, job)).collect();
        let p99 = |job: &JobNow| job.last().waited().quantile(0.99).unwrap_or(0);
        jobs.sort_by(|(a, of_a), (b, of_b)| p99(of_b).cmp(&p99(of_a)).then(a.cmp(b)));
        let rates = live.history().periods().map(|it| {
            let n_ios: u64 = it.dirs.iter().map(|(_, dir)| dir.n_ios).sum();
            n_ios.saturating_mul(1000) / it.length_ms.max(1)
        });
        Screen {
            command: live.about().command.join(" "),
            headline: table::headline(live),
            figures: table::figures(live, &table::all_hosts(live)),
            rates: rates.collect(),
            jobs: table::jobs(jobs.into_iter()),
            hosts: (live.hosts().len() > 1).then(|| table::hosts(live.hosts())),
            note: live.notes().last().map(|note| note.message.clone()),
        }
    }

    /// Returns as many lines as the terminal has.
    pub(crate) fn lines(&self, columns: usize, rows: usize, state: State) -> Vec<String> {
        let mut lines = vec![
            styled(DIM, &self.command, columns),
            styled(BOLD, &format!("{}{}", self.headline, words(state)), columns),
        ];
        if state.has_help {
            lines.push(String::new());
            lines.extend(HELP.map(|line| cut(line, columns)));
        }
        lines.extend(self.figures(columns));
        lines.push(String::new());
        lines.extend(self.rates(columns));
        // The last lines are kept for a note and the keys; hosts get half of the rest at most.
        let n_below = 1 + usize::from(self.note.is_some());
        let room = rows.saturating_sub(lines.len() + n_below);
        let mut tables = Vec::new();
        if let Some(hosts) = &self.hosts {
            tables.extend(grid(hosts, columns, (room / 2).max(room.saturating_sub(self.n_jobs()))));
        }
        let room = room.saturating_sub(tables.len());
        tables.extend(grid(&self.jobs, columns, room));
        lines.extend(tables);
        lines.resize(rows.saturating_sub(n_below), String::new());
        lines.extend(self.note.iter().map(|note| styled(DIM, note, columns)));
        lines.push(styled(DIM, KEYS, columns));
        lines.truncate(rows);
        lines
    }

    /// Returns the lines that all jobs take.
    fn n_jobs(&self) -> usize {
        self.jobs.rows.len() + 2
    }

    /// Returns the figures as pairs, as many in a line as fit.
    fn figures(&self, columns: usize) -> Vec<String> {
        let mut lines = vec![String::new()];
        for (name, value) in &self.figures {
            let pair = format!("{name} {value}");
            let n_chars = pair.chars().count() + 3;
            let last = lines.last_mut().filter(|line| line.chars().count() + n_chars <= columns);
            match last {
                Some(line) if line.is_empty() => line.push_str(&pair),
                Some(line) => line.push_str(&format!("   {pair}")),
                None => lines.push(pair),
            }
        }
        lines.into_iter().map(|line| cut(&line, columns)).collect()
    }

    /// Returns the rate of the last seconds, a bar for each.
    fn rates(&self, columns: usize) -> [String; 2] {
        let n_shown = columns.min(self.rates.len());
        let shown = &self.rates[self.rates.len() - n_shown..];
        let highest = shown.iter().max().copied().unwrap_or(0);
        let bar = |rate: &u64| match (rate * 7).checked_div(highest) {
            None | Some(0) if *rate == 0 => ' ',
            None => BARS[0],
            Some(height) => BARS[height.min(7) as usize],
        };
        let words = format!("I/O rate, up to {} IOPS", units::format_iops(highest as f64));
        [styled(DIM, &words, columns), shown.iter().map(bar).collect()]
    }
}

fn words(state: State) -> &'static str {
    match (state.is_stopping, state.is_paused) {
        (true, _) => "  STOPPING: q again stops at once",
        (false, true) => "  PAUSED: the run goes on, p shows it",
        (false, false) => "",
    }
}

fn cut(text: &str, columns: usize) -> String {
    text.chars().filter(|c| !c.is_control()).take(columns).collect()
}

fn styled(style: &str, text: &str, columns: usize) -> String {
    format!("{style}{}\x1b[0m", cut(text, columns))
}

/// Returns a table in so many rows, behind an empty one; what does not fit is counted.
fn grid(grid: &Grid, columns: usize, n_rows: usize) -> Vec<String> {
    if n_rows < 3 || grid.rows.is_empty() {
        return Vec::new();
    }
    let is_shown = |head: &&Head| columns >= WIDE || !head.is_wide;
    let n_columns = grid.heads.iter().take_while(is_shown).count();
    let width = |column: usize| {
        let of = grid.rows.iter().map(|row| row[column].chars().count());
        of.max().unwrap_or(0).max(grid.heads[column].text.chars().count())
    };
    let mut widths: Vec<usize> = (0..n_columns).map(width).collect();
    // Names give way to numbers.
    let others: usize = widths[1..].iter().map(|width| width + 2).sum();
    widths[0] = widths[0].min(columns.saturating_sub(others).max(8));
    let line = |texts: &mut dyn Iterator<Item = &str>| {
        let cells = texts.zip(&widths).enumerate().map(|(column, (text, width))| {
            let text = cut(text, *width);
            if grid.heads[column].is_of_words {
                format!("{text:<width$}")
            } else {
                format!("{text:>width$}")
            }
        });
        cut(cells.collect::<Vec<_>>().join("  ").trim_end(), columns)
    };
    let mut lines = vec![
        String::new(),
        styled(DIM, &line(&mut grid.heads.iter().map(|head| head.text.as_str())), columns),
    ];
    let n_shown = if grid.rows.len() + 2 <= n_rows { grid.rows.len() } else { n_rows - 3 };
    let shown = &grid.rows[..n_shown];
    lines.extend(shown.iter().map(|row| line(&mut row.iter().map(String::as_str))));
    let n_more = grid.rows.len() - n_shown;
    if n_more > 0 {
        lines.push(styled(DIM, &format!("and {n_more} more"), columns));
    }
    lines
}
