//! What clouds offer: disks, virtual machines, network volumes and prices, by edition, each figure
//! with its unit as published, its source and its date.
//!
//! Figures that are not published stay unknown. Nothing is inferred in silence.
