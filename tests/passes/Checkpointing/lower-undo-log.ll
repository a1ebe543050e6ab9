; The forward sweep keeps what was there and says how far it has written; the reverse sweep has the runtime save the array first, and puts
; back. Where one function does both, each number is noted at once.
;
; RUN: %opt -passes='adgen-lower-undo-log' -S %s | %filecheck %s

target triple = "x86_64-pc-linux-gnu"

@llvm.compiler.used = appending global [2 x ptr] [ptr @adgen_rule_overwrite_f64_augmented, ptr @adgen_rule_overwrite_f64_reverse], section "llvm.metadata"

; CHECK-NOT: @llvm.compiler.used

; CHECK-LABEL: define void @primal(
; CHECK-NEXT:    store double 1.000000e+00, ptr %x
define void @primal(ptr %x) {
  call void @adgen_rule_overwrite_f64(ptr %x, ptr %x)
  store double 1.0, ptr %x
  ret void
}

; CHECK-LABEL: define double @forward(
; CHECK-NEXT:    %[[FIRST:.*]] = alloca i64
; CHECK-NEXT:    %[[END:.*]] = alloca i64
; CHECK-NEXT:    store i64 9223372036854775807, ptr %[[FIRST]]
; CHECK-NEXT:    store i64 -9223372036854775808, ptr %[[END]]
; CHECK:         call i64 @llvm.smin.i64(
; CHECK:         call i64 @llvm.smax.i64(
; CHECK:         %[[OLD:.*]] = load double, ptr %place
; CHECK:         %[[LOW:.*]] = load i64, ptr %[[FIRST]]
; CHECK-NEXT:    %[[HIGH:.*]] = load i64, ptr %[[END]]
; CHECK-NEXT:    call void @adgen_note_overwritten(ptr %x, i64 %[[LOW]], i64 %[[HIGH]])
; CHECK-NEXT:    ret double %[[OLD]]
define double @forward(ptr %x, ptr %dx) {
  %place = getelementptr double, ptr %x, i64 2
  %old = call double @adgen_rule_overwrite_f64_augmented(ptr %x, ptr %dx, ptr %place, ptr %dx)
  store double 1.0, ptr %place
  ret double %old
}

; CHECK-LABEL: define void @reverse(
; CHECK-NEXT:    call void @adgen_save_overwritten(ptr %x)
; CHECK-NEXT:    %place = getelementptr
; CHECK-NEXT:    store double %old, ptr %place
; CHECK-NEXT:    store double %old, ptr %x
; CHECK-NEXT:    ret void
define void @reverse(ptr %x, ptr %dx, double %old) {
  %place = getelementptr double, ptr %x, i64 2
  call void @adgen_rule_overwrite_f64_reverse(ptr %x, ptr %dx, ptr %place, ptr %dx, double %old)
  call void @adgen_rule_overwrite_f64_reverse(ptr %x, ptr %dx, ptr %x, ptr %dx, double %old)
  ret void
}

; Of an array that the function has allocated nobody finds anything.
; CHECK-LABEL: define void @own(
; CHECK-NEXT:    %[[OWN:.*]] = load double, ptr %place
; CHECK-NEXT:    store double 1.000000e+00, ptr %place
; CHECK-NEXT:    store double %[[OWN]], ptr %place
; CHECK-NEXT:    ret void
define void @own(ptr %place, ptr %shadow) {
  %old = call double @adgen_rule_overwrite_own_f64_augmented(ptr %place, ptr %shadow)
  store double 1.0, ptr %place
  call void @adgen_rule_overwrite_own_f64_reverse(ptr %place, ptr %shadow, double %old)
  ret void
}

; CHECK-LABEL: define void @both(
; CHECK:         call void @adgen_note_overwritten(ptr %x, i64 %{{.*}}, i64 %{{.*}})
; CHECK-NEXT:    %[[OLD:.*]] = load double, ptr %x
; CHECK-NEXT:    call void @adgen_save_overwritten(ptr %x)
; CHECK-NEXT:    store double %[[OLD]], ptr %x
; CHECK-NEXT:    %again = load double, ptr %x, align 8{{$}}
define void @both(ptr %x, ptr %dx) {
  %old = call double @adgen_rule_overwrite_f64_augmented(ptr %x, ptr %dx, ptr %x, ptr %dx)
  call void @adgen_rule_overwrite_f64_reverse(ptr %x, ptr %dx, ptr %x, ptr %dx, double %old)
  %again = load double, ptr %x, !invariant.load !0, !adgen.restored !0
  ret void
}

declare void @adgen_rule_overwrite_f64(ptr, ptr)
declare double @adgen_rule_overwrite_f64_augmented(ptr, ptr, ptr, ptr)
declare void @adgen_rule_overwrite_f64_reverse(ptr, ptr, ptr, ptr, double)

!0 = !{}
declare double @adgen_rule_overwrite_own_f64_augmented(ptr, ptr)
declare void @adgen_rule_overwrite_own_f64_reverse(ptr, ptr, double)
