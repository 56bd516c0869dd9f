//! What a wrong caller meets: each check that stays on in release, failed on purpose.

use record::Record;

use crate::{COLUMNS, Run, Table, Value, csv, parquet, table};

fn row(run_id: Value) -> Vec<Value> {
    let rest = vec![Value::None; COLUMNS.len() - 1];
    [run_id].into_iter().chain(rest).collect()
}

fn of(row: &[Value]) -> Table {
    Table { rows: vec![row.to_vec()] }
}

#[test]
fn a_row_that_does_not_fit_is_not_written() {
    let (whole, text) = (row(Value::Whole(1)), row(Value::Text("1".to_owned())));
    let wide = [&whole[..], &[Value::None]].concat();
    let run = |id| Run { id: Some(id), name: "a".to_owned(), record: Record::default() };
    testing::check_wrong_calls(&[
        ("a row too short", "row 0 has 27 cells of 28", &|| _ = csv(&of(&whole[1..]))),
        ("a row too long", "row 0 has 29 cells of 28", &|| _ = parquet(&of(&wide))),
        ("text for a number", "has Text(\"1\") as `run_id`, of the kind Whole", &|| {
            _ = parquet(&of(&text));
        }),
        ("a number for text", "has Whole(1) as `run`, of the kind Text", &|| {
            _ = csv(&of(&[&[Value::None, Value::Whole(1)], &whole[2..]].concat()));
        }),
        ("a run before the first", "the run `a` has the number Some(0)", &|| _ = table(&[run(0)])),
    ]);
    assert_eq!(csv(&of(&whole)).lines().count(), 2);
    assert!(table(&[run(1)]).rows.is_empty());
}
