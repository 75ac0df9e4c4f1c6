"""Who mentions a name: the same before, while and after the names are learnt."""



LINES = [
    "  %{} = f32[] add(%{}, %{})",
    "  {} = f32[] add({}, {})",
    "  %{} = f32[] negate(%{}), control-predecessors={{%{}}}",
    "  {} = f32[] negate({}), control-predecessors={{{}}}",
    "  %{} = f32[] fusion(%{}), calls=%{}",
    '  %{} = f32[] exp(%{}), metadata={{op_name="%{}"}}',
]
NAMES = [f"n.{number}" for number in range(6)] + ["n", "n.10"]
