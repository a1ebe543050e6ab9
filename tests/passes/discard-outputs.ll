; An output that is discarded needs no value in the gradient; one that is read is refused.
;
; RUN: %opt -passes=adgen-discard-outputs -S %s 2>/dev/null | %filecheck %s
; RUN: %opt -passes=adgen-discard-outputs -disable-output %s 2>&1 | %filecheck %s --check-prefix=REFUSED

; REFUSED-NOT: "entry":"writes"
; REFUSED: adgen-refusal: {{.*}}"entry":"reads"{{.*}}'y' cannot be discarded: the kernel reads it

; CHECK-LABEL: define void @adgen_gradient_writes(
; CHECK: @__enzyme_autodiff_adgen_body_writes(ptr @adgen_body_writes, metadata !"enzyme_const", i32 %n, metadata !"enzyme_dup", ptr %x, ptr %d_x, metadata !"enzyme_dupnoneed", ptr %y, ptr %d_y)
define void @adgen_gradient_writes(i32 %n, ptr %x, ptr %y, ptr %d_x, ptr "adgen-discarded" %d_y) {
  call void (...) @__enzyme_autodiff_adgen_body_writes(ptr @adgen_body_writes, metadata !"enzyme_const", i32 %n, metadata !"enzyme_dup", ptr %x, ptr %d_x, metadata !"enzyme_dup", ptr %y, ptr %d_y)
  ret void
}

define void @adgen_gradient_reads(ptr %y, ptr "adgen-discarded" %d_y) {
  call void (...) @__enzyme_autodiff_adgen_body_reads(ptr @adgen_body_reads, metadata !"enzyme_dup", ptr %y, ptr %d_y)
  ret void
}

define void @writes() { ret void }
define void @reads() { ret void }
define void @adgen_body_writes(i32 %n, ptr readonly %x, ptr writeonly %y) { ret void }
define void @adgen_body_reads(ptr %y) { ret void }
declare void @__enzyme_autodiff_adgen_body_writes(...)
declare void @__enzyme_autodiff_adgen_body_reads(...)
