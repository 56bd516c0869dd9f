//! Compresses the tables of `data/`, which stay text in the repository, for the program to carry.

use std::path::Path;
use std::{env, fs, io};

/// How hard to compress: 10 is slowest. It is done once per change of the tables.
const LEVEL: u8 = 10;

#[expect(clippy::disallowed_methods, reason = "cargo says where to write by a variable only")]
fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=data");
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    compress(Path::new("data"), Path::new(&out))
}

/// Writes `NAME.csv` as `NAME.csv.deflate`, in the same folders below `to`.
fn compress(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if path.is_dir() {
            compress(&path, &to.join(name))?;
        } else if path.extension().is_some_and(|extension| extension == "csv") {
            let deflated = miniz_oxide::deflate::compress_to_vec(&fs::read(&path)?, LEVEL);
            fs::write(to.join(format!("{name}.deflate")), deflated)?;
        }
    }
    Ok(())
}
