//! Pictures of pages for the book: the first screen of each.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::browser::{self, Browser};
use super::{VIEWPORTS, base64, show};

/// Height of a picture: what is above it is the answer and the first chart.
const HEIGHT_MAX: f64 = 1000.0;

/// Takes a picture of each page, beside it.
pub(crate) fn photograph(pages: &[PathBuf], profile: &Path) -> Result<()> {
    let program = browser::program().context("a browser")?;
    let mut browser = Browser::start(program, profile)?;
    show(&mut browser, &VIEWPORTS[0])?;
    for page in pages {
        take(&mut browser, page).with_context(|| format!("a picture of {}", page.display()))?;
    }
    Ok(())
}

fn take(browser: &mut Browser, page: &Path) -> Result<()> {
    browser.take_events();
    let url = format!("file://{}", page.display());
    let answer = browser.call("Page.navigate", &json!({ "url": url }))?;
    ensure!(answer["errorText"].is_null(), "cannot open {url}: {}", answer["errorText"]);
    browser.wait_for("Page.loadEventFired")?;
    // Pages of designs draw nothing by script.
    browser.wait_until(
        "(() => { const n = document.querySelectorAll('[data-chart]').length; \
         return n === 0 || document.documentElement.dataset.drawn === String(n); })()",
    )?;
    let height = browser.evaluate("document.documentElement.scrollHeight")?;
    let height = height.as_f64().unwrap_or(HEIGHT_MAX).min(HEIGHT_MAX);
    let width = VIEWPORTS[0].width;
    let clip = json!({ "x": 0, "y": 0, "width": width, "height": height, "scale": 1 });
    let params = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
    let shot = browser.call("Page.captureScreenshot", &params)?;
    let bytes = base64(shot["data"].as_str().unwrap_or_default())?;
    fs::write(page.with_extension("png"), bytes)?;
    Ok(())
}
