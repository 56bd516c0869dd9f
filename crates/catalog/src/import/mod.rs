//! Published tables as rows of the catalogue.
