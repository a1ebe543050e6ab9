; A second library.
define void @adgen_rule_example(ptr %anchor) {
  ret void
}
