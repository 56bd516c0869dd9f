//! What to type next, behind the answer of a suite.

use bench::suite::DEFAULT;
use record::{NeedVerdict, Record, SuiteRecord};

/// Returns the next command and what it is for; none where the answer ends the question.
pub(super) fn next(record: &Record, target: &str) -> Option<String> {
    let suite = record.suite.as_ref()?;
    let target = units::shell_word(target);
    let is_own = |suite: &SuiteRecord| suite.needs.iter().all(|need| need.source.is_empty());
    match suite.needs.as_slice() {
        [] if suite.name == DEFAULT => Some(format!(
            "next: is it good enough for you? plimsoll bench {target} --need 'iops=5000,p99<2ms'\n"
        )),
        [] => None,
        needs if is_own(suite) && needs.iter().any(|it| it.verdict == NeedVerdict::NotMet) => {
            Some(format!("next: how much does it carry? plimsoll bench {target}\n"))
        }
        [_, ..] => None,
    }
}

#[cfg(test)]
mod tests {
    use record::NeedRecord;

    use super::*;

    #[track_caller]
    fn check(suite: &str, needs: &[(NeedVerdict, &str)], target: &str, expected: Option<&str>) {
        let need = |(verdict, source): &(NeedVerdict, &str)| NeedRecord {
            verdict: *verdict,
            source: (*source).to_owned(),
            ..NeedRecord::default()
        };
        let needs = needs.iter().map(need).collect();
        let name = suite.to_owned();
        let suite = Some(SuiteRecord { name, needs, ..SuiteRecord::default() });
        let record = Record { suite, ..Record::default() };
        assert_eq!(next(&record, target).as_deref(), expected);
    }

    #[test]
    fn an_answer_leads_to_the_next_question() {
        let enough = "next: is it good enough for you? \
                      plimsoll bench . --need 'iops=5000,p99<2ms'\n";
        check("quick", &[], ".", Some(enough));
        check("postgresql", &[], ".", None);
        let carries = "next: how much does it carry? plimsoll bench '/mnt/my disk'\n";
        check("need", &[(NeedVerdict::NotMet, "")], "/mnt/my disk", Some(carries));
        check("need", &[(NeedVerdict::Met, "")], ".", None);
        check("etcd", &[(NeedVerdict::NotMet, "faq")], ".", None);
    }
}
