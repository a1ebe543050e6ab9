; An output that is discarded needs no value in the gradient; one that is read is refused, and so is an array that is written where its
; shadow is to hold zeros before.
;
; RUN: %opt -passes=adgen-discard-outputs -S %s 2>/dev/null | %filecheck %s
; RUN: %opt -passes=adgen-discard-outputs -disable-output %s 2>&1 | %filecheck %s --check-prefix=REFUSED

; REFUSED-NOT: "entry":"writes"
; REFUSED: adgen-refusal: {{.*}}"entry":"reads"{{.*}}'y' cannot be discarded: the kernel reads it
; REFUSED-NOT: "entry":"writes"
; REFUSED: adgen-refusal: {{.*}}"entry":"adds"{{.*}}'y' cannot be fresh: the kernel writes it

; CHECK-LABEL: define void @adgen_gradient_writes(
; CHECK: @__enzyme_autodiff_adgen_body_writes(ptr @adgen_body_writes, metadata !"enzyme_const", i32 %n, metadata !"enzyme_dup", ptr %x, ptr %d_x, metadata !"enzyme_dupnoneed", ptr %y, ptr %d_y)
define void @adgen_gradient_writes(i32 %n, ptr %x, ptr %y, ptr "adgen-fresh" %d_x, ptr "adgen-discarded" %d_y) {
  call void (...) @__enzyme_autodiff_adgen_body_writes(ptr @adgen_body_writes, metadata !"enzyme_const", i32 %n, metadata !"enzyme_dup", ptr %x, ptr %d_x, metadata !"enzyme_dup", ptr %y, ptr %d_y)
  ret void
}

define void @adgen_gradient_reads(ptr %y, ptr "adgen-discarded" %d_y) {
  call void (...) @__enzyme_autodiff_adgen_body_reads(ptr @adgen_body_reads, metadata !"enzyme_dup", ptr %y, ptr %d_y)
  ret void
}

define void @adgen_gradient_adds(ptr %y, ptr "adgen-fresh" %d_y) {
  call void (...) @__enzyme_autodiff_adgen_body_adds(ptr @adgen_body_adds, metadata !"enzyme_dup", ptr %y, ptr %d_y)
  ret void
}

define void @writes() { ret void }
define void @reads() { ret void }
define void @adds() { ret void }
define void @adgen_body_writes(i32 %n, ptr readonly %x, ptr writeonly %y) { ret void }
define void @adgen_body_reads(ptr %y) { ret void }
define void @adgen_body_adds(ptr writeonly %y) { ret void }
declare void @__enzyme_autodiff_adgen_body_writes(...)
declare void @__enzyme_autodiff_adgen_body_reads(...)
declare void @__enzyme_autodiff_adgen_body_adds(...)
