//! What a wrong caller meets: each check that stays on in release, failed on purpose.

use crate::variable::Variable;

#[test]
fn what_a_variable_is_means_nothing_to_a_shell() {
    let is_refused = "what a variable is says no sign that shells read";
    let new = |what| _ = Variable::new("name", what);
    new("name of the machine, in small letters");
    testing::check_wrong_calls(&[
        ("a quote", is_refused, &|| new("the machine's name")),
        ("double quotes", is_refused, &|| new("\"name\"")),
        ("a command", is_refused, &|| new("as `hostname` says")),
        ("another variable", is_refused, &|| new("as $HOSTNAME")),
        ("an opening brace", is_refused, &|| new("{")),
        ("a closing brace", is_refused, &|| new("}")),
        ("a backslash", is_refused, &|| new("\\")),
    ]);
}
