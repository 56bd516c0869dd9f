//! Reports in a browser: what is drawn is what the records hold, no request is made, and
//! no error is reported.
//!
//! Makes runs on an emulated disk in virtual time (a load curve, an hour, two to compare, a matrix
//! of steps), writes their pages with this build, and opens each in Chromium without a network:
//! checks the figures that plotly drew against `plimsoll report --json` and that against the
//! record, then takes pictures into `target/e2e`, at 1280 and 400 pixels, light, dark and for
//! paper. With `PLIMSOLL_AXE` naming the file of axe-core, it looks for what a screen reader or a
//! keyboard stumbles over. Prints after which time the first picture was on the screen, and after
//! which all. Says so and succeeds where there is no Chromium.

mod browser;
mod pages;
mod photograph;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::workspace;
use browser::Browser;
pub(crate) use photograph::photograph;

/// Longest time until every chart is drawn, milliseconds. Two quiet cores take about one second, of
/// which the first picture about half; the check is against a page that hangs.
const OPEN_MS_MAX: f64 = 30_000.0;

/// Largest page, bytes.
const SIZE_MAX: u64 = 6_000_000;

/// A way to look at a page.
struct Viewport {
    name: &'static str,
    width: u32,
    is_dark: bool,
}

const VIEWPORTS: [Viewport; 4] = [
    Viewport { name: "wide-light", width: 1280, is_dark: false },
    Viewport { name: "wide-dark", width: 1280, is_dark: true },
    Viewport { name: "narrow-light", width: 400, is_dark: false },
    Viewport { name: "narrow-dark", width: 400, is_dark: true },
];

/// Returns why this machine cannot do it; none where it can.
pub(crate) fn missing() -> Option<&'static str> {
    browser::program().is_none().then_some("no Chromium on PATH (`apt-get install chromium`)")
}

/// Runs the checks.
pub(crate) fn run() -> Result<()> {
    let Some(program) = browser::program() else {
        println!("skipped: {}", missing().unwrap_or_default());
        return Ok(());
    };
    workspace::build_program()?;
    let folder = workspace::target_dir()?.join("e2e");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let pages = pages::make(&folder)?;
    let mut browser = Browser::start(program, &folder.join("profile"))?;
    let version = browser.call("Browser.getVersion", &json!({}))?;
    println!("{}", version["product"].as_str().unwrap_or("a browser"));
    // Nothing outside is reached from here, whatever a page would ask for.
    let offline =
        json!({ "offline": true, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0 });
    browser.call("Network.emulateNetworkConditions", &offline)?;
    let mut mistakes = Vec::new();
    for page in &pages {
        let found = check(&mut browser, page, &folder)
            .with_context(|| format!("the page of the {}", page.name))?;
        mistakes.extend(found.into_iter().map(|what| format!("{}: {what}", page.name)));
    }
    drop(browser);
    let _ = fs::remove_dir_all(folder.join("profile"));
    println!("pictures are in {}", folder.display());
    if std::env::var_os(AXE).is_none() {
        println!("without axe-core: set {AXE} to its axe.min.js (`npm pack axe-core`)");
    }
    if !mistakes.is_empty() {
        bail!("{} mistakes:\n  {}", mistakes.len(), mistakes.join("\n  "));
    }
    Ok(())
}

/// A page to check.
struct Page {
    name: &'static str,
    html: PathBuf,
    /// What `plimsoll report --json` says about it.
    report: Value,
    /// What must hold between the report and its records, as (what, expected, found).
    against_record: Vec<(String, f64, f64)>,
}

/// Opens a page and returns what is wrong with it.
fn check(browser: &mut Browser, page: &Page, folder: &Path) -> Result<Vec<String>> {
    let mut mistakes = Vec::new();
    for (what, expected, found) in &page.against_record {
        if (expected - found).abs() > 1e-6 * expected.abs().max(1.0) {
            mistakes.push(format!("{what}: the record says {expected}, the chart {found}"));
        }
    }
    let size = fs::metadata(&page.html)?.len();
    if size > SIZE_MAX {
        mistakes.push(format!("the page has {size} bytes, more than {SIZE_MAX}"));
    }
    show(browser, &VIEWPORTS[0])?;
    let opened = open(browser, &page.html)?;
    let charts = page.report["charts"].as_array().context("a report has charts")?;
    for chart in charts {
        mistakes.extend(drawn(browser, chart)?);
    }
    mistakes.extend(usable(browser)?);
    mistakes.extend(paper(browser)?);
    for look in &VIEWPORTS {
        show(browser, look)?;
        mistakes.extend(accessible(browser, look)?);
        let name = format!("{}-{}.png", page.name, look.name);
        mistakes.extend(picture(browser, &folder.join(name), look)?);
    }
    print(browser, &folder.join(format!("{}.pdf", page.name)))?;
    mistakes.extend(complaints(&browser.take_events(), &page.html));
    println!(
        "{:12} {:>5.2} MB, first picture after {:.2} s, all {} after {:.2} s{}",
        page.name,
        size as f64 / 1e6,
        opened.first_ms / 1000.0,
        charts.len(),
        opened.all_ms / 1000.0,
        if mistakes.is_empty() { "" } else { ", WRONG" }
    );
    let all_ms = opened.all_ms;
    ensure!(all_ms < OPEN_MS_MAX, "it took {all_ms:.0} ms to open, more than {OPEN_MS_MAX}");
    Ok(mistakes)
}

/// How long a page took from the navigation, milliseconds.
struct Opened {
    /// Until its answer and its first picture were on the screen.
    first_ms: f64,
    /// Until every picture was.
    all_ms: f64,
}

/// Opens a page and waits until every chart is drawn.
fn open(browser: &mut Browser, html: &Path) -> Result<Opened> {
    browser.take_events();
    let url = format!("file://{}", html.display());
    let answer = browser.call("Page.navigate", &json!({ "url": url }))?;
    ensure!(answer["errorText"].is_null(), "cannot open {url}: {}", answer["errorText"]);
    browser.wait_for("Page.loadEventFired")?;
    wait_drawn(browser)?;
    let n_charts = browser.evaluate("document.querySelectorAll('[data-chart]').length")?;
    let mut after_ms = |mark: &str| -> Result<f64> {
        let found = browser
            .evaluate(&format!("performance.getEntriesByName('{mark}')[0]?.startTime ?? null"))?;
        let found = found.as_f64().or((n_charts == 0).then_some(0.0));
        found.with_context(|| format!("the page says nothing of its {mark}"))
    };
    Ok(Opened { first_ms: after_ms("first-picture")?, all_ms: after_ms("all-pictures")? })
}

fn wait_drawn(browser: &mut Browser) -> Result<()> {
    // What another look makes stale is reported with the next frame.
    browser.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))")?;
    browser.wait_until(
        "document.querySelectorAll('[data-chart]').length === 0 || \
         document.documentElement.dataset.drawn === \
         String(document.querySelectorAll('[data-chart]').length)",
    )
}

fn show(browser: &mut Browser, look: &Viewport) -> Result<()> {
    let size = json!({
        "width": look.width, "height": 900, "deviceScaleFactor": 1, "mobile": look.width < 600,
    });
    browser.call("Emulation.setDeviceMetricsOverride", &size)?;
    let scheme = if look.is_dark { "dark" } else { "light" };
    let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
    browser.call("Emulation.setEmulatedMedia", &media)?;
    Ok(())
}

/// What plotly drew of a chart: of each series its values, of a heat map its cells.
const DRAWN: &str = "(() => {
    const gd = document.querySelector('[data-chart=\"ID\"]');
    if (!gd || !gd._fullData) return null;
    const list = (values) => Array.from(values ?? []);
    const is = (kind) => (trace) => trace.meta?.kind === kind && trace.visible === true;
    const of = (kind) => gd._fullData.filter(is(kind));
    const hollow = (symbol) => String(symbol).endsWith('-open');
    return {
      series: of('series').map((trace) => ({ name: trace.name, x: list(trace.x), y: list(trace.y),
        hollow: list(trace.marker?.symbol).filter(hollow).length })),
      cells: of('cells').map((trace) => list(trace.customdata).map(list)),
      paths: gd.querySelectorAll('.scatterlayer .trace path, .heatmaplayer image').length,
    };
  })()";

/// Compares a chart's data with what the browser drew, value by value.
fn drawn(browser: &mut Browser, chart: &Value) -> Result<Vec<String>> {
    let id = chart["id"].as_str().context("a chart has an id")?;
    let found = browser.evaluate(&DRAWN.replace("ID", id))?;
    if found.is_null() {
        return Ok(vec![format!("{id} is not drawn")]);
    }
    let mut mistakes = Vec::new();
    let empty = Vec::new();
    let of = |value: &'_ Value| value.as_array().cloned().unwrap_or_default();
    let (expected, series) = (of(&chart["series"]), of(&found["series"]));
    if expected.len() != series.len() {
        mistakes.push(format!("{id} has {} series, drawn are {}", expected.len(), series.len()));
    }
    for (wanted, got) in expected.iter().zip(&series) {
        let name = wanted["name"].as_str().unwrap_or_default();
        for axis in ["x", "y"] {
            let wanted = wanted[axis].as_array().unwrap_or(&empty);
            let got = got[axis].as_array().unwrap_or(&empty);
            if let Some(what) = difference(wanted, got) {
                mistakes.push(format!("{id}, {name}, {axis}: {what}"));
            }
        }
        let hollow = of(&wanted["hollow"]).len();
        if got["hollow"] != hollow {
            mistakes
                .push(format!("{id}, {name}: {} points are hollow, not {hollow}", got["hollow"]));
        }
    }
    if let Some(rows) = chart["cells"]["values"].as_array() {
        let drawn = of(&found["cells"][0]);
        let flat = |rows: &[Value]| rows.iter().flat_map(of).collect::<Vec<Value>>();
        if let Some(what) = difference(&flat(rows), &flat(&drawn)) {
            mistakes.push(format!("{id}, cells: {what}"));
        }
    }
    if found["paths"].as_u64().unwrap_or(0) == 0 {
        mistakes.push(format!("{id} has data, but nothing is painted"));
    }
    Ok(mistakes)
}

/// Returns where two lists of numbers differ. A value that is missing is null in both.
fn difference(wanted: &[Value], got: &[Value]) -> Option<String> {
    if wanted.len() != got.len() {
        return Some(format!("{} values, drawn are {}", wanted.len(), got.len()));
    }
    let differs = |(wanted, got): (&Value, &Value)| wanted.as_f64() != got.as_f64();
    let at = wanted.iter().zip(got).position(differs)?;
    Some(format!("value {at} is {}, drawn is {}", wanted[at], got[at]))
}

/// What a keyboard and a screen reader need.
fn usable(browser: &mut Browser) -> Result<Vec<String>> {
    let found = browser.evaluate(
        "(() => {
          const wrong = [];
          for (const link of document.querySelectorAll('a[href^=\"#\"]')) {
            const to = document.getElementById(link.hash.slice(1));
            if (!to) wrong.push(`${link.hash} leads nowhere`);
          }
          const ids = [...document.querySelectorAll('main [id]:not(svg *)')].map((of) => of.id);
          const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
          if (twice.length) wrong.push(`ids are used twice: ${twice.slice(0, 3)}`);
          for (const of of document.querySelectorAll('[role=img], [role=region], nav')) {
            if (!of.getAttribute('aria-label')) wrong.push(`${of.tagName} without a name`);
          }
          for (const of of document.querySelectorAll('[aria-labelledby]')) {
            const name = document.getElementById(of.getAttribute('aria-labelledby'));
            if (!name) wrong.push('a name leads nowhere');
          }
          const skip = document.querySelector('.skip');
          if (document.querySelector('nav') && !skip) wrong.push('no link skips the contents');
          skip?.focus();
          const left = skip?.getBoundingClientRect().left;
          if (left < 0) wrong.push('the skip link stays out of sight');
          skip?.blur();
          return wrong;
        })()",
    )?;
    let found = found.as_array().cloned().unwrap_or_default();
    Ok(found.iter().filter_map(|what| what.as_str().map(str::to_owned)).collect())
}

/// The file of axe-core (`axe.min.js`), which is not ours to keep here: its licence is MPL-2.0.
const AXE: &str = "PLIMSOLL_AXE";

/// What axe-core finds that keeps a reader from something: with all tables open, and closed again.
const FINDINGS: &str = "(async () => {
    const all = [...document.querySelectorAll('details')];
    all.forEach((of) => { of.open = true; });
    const { violations } = await axe.run(document, { resultTypes: ['violations'] });
    all.forEach((of) => { of.open = false; });
    return violations.filter((of) => ['serious', 'critical'].includes(of.impact))
      .map((of) => `${of.id}, ${of.help}: ${of.nodes[0].target.join(' ')}`);
})()";

/// Returns what a screen reader or a keyboard stumbles over, where axe-core is there.
fn accessible(browser: &mut Browser, look: &Viewport) -> Result<Vec<String>> {
    let Some(path) = std::env::var_os(AXE) else { return Ok(Vec::new()) };
    let axe = fs::read_to_string(&path).with_context(|| format!("{AXE}={}", path.display()))?;
    browser.evaluate(&format!("{axe};0"))?;
    let found = browser.evaluate(FINDINGS)?;
    let found = found.as_array().context("axe-core has findings")?;
    Ok(found.iter().map(|what| format!("{}: axe-core: {what}", look.name)).collect())
}

/// Pixels of a sheet of A4 between the margins that the page asks for.
const SHEET: (u32, u32) = (695, 1016);

/// Returns what does not fit a sheet of paper: the answer and its picture are on the first one.
fn paper(browser: &mut Browser) -> Result<Vec<String>> {
    let size =
        json!({ "width": SHEET.0, "height": SHEET.1, "deviceScaleFactor": 1, "mobile": false });
    browser.call("Emulation.setDeviceMetricsOverride", &size)?;
    browser.call("Emulation.setEmulatedMedia", &json!({ "media": "print" }))?;
    browser.evaluate("dispatchEvent(new Event('beforeprint'))")?;
    let end =
        browser.evaluate("document.getElementById('answer').getBoundingClientRect().bottom")?;
    let wide = browser.evaluate("document.documentElement.scrollWidth")?;
    browser.evaluate("dispatchEvent(new Event('afterprint'))")?;
    browser.call("Emulation.setEmulatedMedia", &json!({ "media": "" }))?;
    let mut mistakes = Vec::new();
    for (what, found, most) in [("the answer ends at", &end, SHEET.1), ("it is", &wide, SHEET.0)] {
        let found = found.as_f64().context("a number of pixels")?;
        if found > f64::from(most) {
            mistakes.push(format!("on paper {what} {found} pixels of {most}"));
        }
    }
    Ok(mistakes)
}

/// Takes a picture of the whole page; says where it is wider than the screen.
fn picture(browser: &mut Browser, path: &Path, look: &Viewport) -> Result<Vec<String>> {
    // Charts follow the width with a delay.
    let is_fitting = "[...document.querySelectorAll('[data-chart]')].every((of) => \
                      Math.abs(of._fullLayout.width - of.clientWidth) < 2)";
    browser.wait_until(is_fitting)?;
    wait_drawn(browser)?;
    let wide = browser.evaluate("document.documentElement.scrollWidth")?;
    let height = browser.evaluate("document.documentElement.scrollHeight")?;
    let size = json!({
        "x": 0, "y": 0, "width": look.width, "height": height.as_f64().unwrap_or(900.0), "scale": 1,
    });
    let params = json!({ "format": "png", "captureBeyondViewport": true, "clip": size });
    let shot = browser.call("Page.captureScreenshot", &params)?;
    fs::write(path, base64(shot["data"].as_str().unwrap_or_default())?)?;
    let excess = wide.as_u64().unwrap_or(0).saturating_sub(u64::from(look.width));
    let too_wide = format!("{}: the page is {excess} pixels wider than the screen", look.name);
    Ok(if excess > 0 { vec![too_wide] } else { Vec::new() })
}

fn print(browser: &mut Browser, path: &Path) -> Result<()> {
    let pdf = browser.call("Page.printToPDF", &json!({ "printBackground": true }))?;
    fs::write(path, base64(pdf["data"].as_str().unwrap_or_default())?)?;
    Ok(())
}

/// Finds errors on the console and requests among the events of a page.
fn complaints(events: &[Value], html: &Path) -> Vec<String> {
    let own = format!("file://{}", html.display());
    let mut found = Vec::new();
    for event in events {
        let params = &event["params"];
        match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => {
                let details = &params["exceptionDetails"];
                found.push(format!("an exception: {}", details["exception"]["description"]));
            }
            "Runtime.consoleAPICalled" if params["type"] == "error" => {
                found.push(format!("an error on the console: {}", params["args"]));
            }
            "Log.entryAdded" if params["entry"]["level"] == "error" => {
                found.push(format!("an error in the log: {}", params["entry"]["text"]));
            }
            "Network.requestWillBeSent" => {
                let url = params["request"]["url"].as_str().unwrap_or_default();
                let is_inside = ["data:", "blob:"].iter().any(|scheme| url.starts_with(scheme));
                if url != own && !is_inside {
                    found.push(format!("a request to {url}"));
                }
            }
            _ => {}
        }
    }
    found
}

/// Reads base64 as the browser writes it.
fn base64(text: &str) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut n_bits) = (0_u32, 0);
    for byte in text.bytes().filter(|byte| *byte != b'=') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => bail!("byte {byte} is no base64"),
        };
        bits = bits << 6 | u32::from(value);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            out.push((bits >> n_bits) as u8);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read() {
        assert_eq!(base64("").unwrap(), b"");
        assert_eq!(base64("AP8Q").unwrap(), [0, 255, 16]);
        assert_eq!(base64("aGVsbG8=").unwrap(), b"hello");
        assert!(base64("a b").is_err());
    }

    #[test]
    fn differences_name_their_place() {
        let list = |text: &str| serde_json::from_str::<Vec<Value>>(text).unwrap();
        assert_eq!(difference(&list("[1, null, 2.0]"), &list("[1.0, null, 2]")), None);
        let reported = difference(&list("[1, null]"), &list("[1, 0]"));
        assert_eq!(reported.as_deref(), Some("value 1 is null, drawn is 0"));
        assert!(difference(&list("[1]"), &list("[]")).is_some());
    }

    #[test]
    fn requests_and_errors_are_found() {
        let request = |url: &str| {
            let params = json!({ "request": { "url": url } });
            json!({ "method": "Network.requestWillBeSent", "params": params })
        };
        let entry = json!({ "level": "error", "text": "refused" });
        let events = [
            request("file:///a.html"),
            request("data:,"),
            request("https://x.test/"),
            json!({ "method": "Log.entryAdded", "params": { "entry": entry } }),
            json!({ "method": "Runtime.consoleAPICalled", "params": { "type": "log" } }),
        ];
        let found = complaints(&events, Path::new("/a.html"));
        assert_eq!(found, ["a request to https://x.test/", "an error in the log: \"refused\""]);
    }
}
