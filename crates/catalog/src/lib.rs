//! What clouds offer: disks, virtual machines, network volumes and prices, by edition, each figure
//! with its unit as published, its source and its date.
//!
//! The data are the CSV files in `data/`, one folder per edition (`data/README.md` has the layout).
//! [`edition`] is the way in; [`Catalog::with`] adds a user's own tables; [`import`] turns a
//! published table into rows and says what they change; [`cost`] makes a month's price of what is
//! bought. The tables are compressed in the program. Each is read when it is first asked for, and
//! prices apart from the rest.
//!
//! Figures that are not published stay unknown. Nothing is inferred in silence: a figure says how
//! exact it is ([`Exactness`]), because a published "MB/s" may mean three things.
//!
//! Never here: files (the caller reads them), a clock, and any opinion on what to buy.
//!
//! Tests: `tests/tables.rs` (every row has name, unit, source and date; values of the sources),
//! `tests/import.rs`, `tests/cost.rs` (twenty designs to the cent).

mod built_in;
mod cloud;
mod column;
pub mod cost;
mod edition;
mod error;
mod exactness;
mod figure;
pub mod import;
mod item;
mod kinds;
mod near;
mod network;
mod packed;
mod price;
mod price_per;
mod table;

pub use built_in::{Catalog, edition};
pub use cloud::Cloud;
pub use column::{Column, Unit};
pub use edition::Edition;
pub use error::CatalogError;
pub use exactness::Exactness;
pub use figure::{Figure, Source};
pub use item::{Item, Note};
pub use kinds::{Arch, Cacheable, Disk, Vm};
pub use near::nearest;
pub use network::{NetworkFact, Surface, VolumeKind};
pub use packed::{EDITIONS, EditionInfo};
pub use price::{Price, QuantityBand, Term};
pub use price_per::Part;
pub use table::TableFile;
