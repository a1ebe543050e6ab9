; A reverse sweep takes the address of the record that its forward sweep has kept, which is given back behind it.
;
; RUN: %opt -passes='adgen-pass-tapes-by-pointer,verify' -S %s | %filecheck %s

%inner = type { ptr, double }
%outer = type { double, %inner }

; Members are read where they were taken out; what is kept of a call within is a part of the record.
; CHECK-LABEL: define internal void @diffeouter(double %d, ptr noalias nonnull readonly captures(none) dereferenceable(24) %tapeArg)
; CHECK:         %[[X:.*]] = getelementptr inbounds %outer, ptr %tapeArg, i32 0, i32 0
; CHECK-NEXT:    %x = load double, ptr %[[X]]
; CHECK:         %[[INNER:.*]] = getelementptr inbounds %outer, ptr %tapeArg, i32 0, i32 1
; CHECK:         call void @diffeinner(double %m, ptr %[[INNER]])
define internal void @diffeouter(double %d, %outer %tapeArg) {
  %x = extractvalue %outer %tapeArg, 0
  %m = fmul double %d, %x
  %within = extractvalue %outer %tapeArg, 1
  call void @diffeinner(double %m, %inner %within)
  ret void
}

; CHECK-LABEL: define internal void @diffeinner(double %d, ptr {{.*}} %tapeArg)
; CHECK:         %place = load ptr, ptr
; CHECK:         %x = load double, ptr
define internal void @diffeinner(double %d, %inner %tapeArg) {
  %place = extractvalue %inner %tapeArg, 0
  %x = extractvalue %inner %tapeArg, 1
  %m = fmul double %d, %x
  store double %m, ptr %place
  ret void
}

; CHECK-LABEL: define void @adgen_gradient_straight(
; CHECK-NEXT:    %tape = call ptr @augmented_outer()
; CHECK-NEXT:    %y = call double @llvm.sqrt.f64(double %d)
; CHECK-NEXT:    load %outer, ptr %tape
; CHECK-NEXT:    call void @diffeouter(double %y, ptr %tape)
; CHECK-NEXT:    call void @free(ptr %tape)
; CHECK-NEXT:    ret void
define void @adgen_gradient_straight(double %d) {
  %tape = call ptr @augmented_outer()
  %record = load %outer, ptr %tape, align 8, !enzyme_mustcache !0
  call void @free(ptr %tape)
  %y = call double @llvm.sqrt.f64(double %d)
  call void @diffeouter(double %y, %outer %record)
  ret void
}

; Where an array has the records of a loop, it has their addresses; each is fetched ahead.
; CHECK-LABEL: define void @adgen_gradient_loop(
; CHECK:       forward:
; CHECK:         %tape = call ptr @augmented_outer()
; CHECK-NEXT:    call void @llvm.prefetch.p0(ptr %tape, i32 0, i32 3, i32 1)
; CHECK-NEXT:    %array = load ptr, ptr %kept
; CHECK-NEXT:    %element = getelementptr inbounds %outer, ptr %array, i64 %i
; CHECK-NEXT:    store ptr %tape, ptr %element
; CHECK-NOT:     free
; CHECK:       reverse:
; CHECK:         %place = getelementptr inbounds %outer, ptr %again, i64 %j
; CHECK-NEXT:    %[[TAPE:.*]] = load ptr, ptr %place
; CHECK-NEXT:    load %outer, ptr %[[TAPE]]
; CHECK-NEXT:    call void @diffeouter(double %d, ptr %[[TAPE]])
; CHECK-NEXT:    call void @free(ptr %[[TAPE]])
define void @adgen_gradient_loop(double %d, i64 %n) {
entry:
  %kept = alloca ptr
  %bytes = mul i64 %n, 24
  %all = call ptr @malloc(i64 %bytes)
  store ptr %all, ptr %kept
  br label %forward
forward:
  %i = phi i64 [ 0, %entry ], [ %next, %forward ]
  %next = add i64 %i, 1
  %tape = call ptr @augmented_outer()
  %record = load %outer, ptr %tape, align 8, !enzyme_mustcache !0
  call void @free(ptr %tape)
  %array = load ptr, ptr %kept
  %element = getelementptr inbounds %outer, ptr %array, i64 %i
  store %outer %record, ptr %element, align 8, !invariant.group !1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %forward, label %reverse
reverse:
  %above = phi i64 [ %n, %forward ], [ %j, %reverse ]
  %j = sub i64 %above, 1
  %again = load ptr, ptr %kept
  %place = getelementptr inbounds %outer, ptr %again, i64 %j
  %looked.up = load %outer, ptr %place, align 8, !invariant.group !1
  call void @diffeouter(double %d, %outer %looked.up)
  %rest = icmp ne i64 %j, 0
  br i1 %rest, label %reverse, label %exit
exit:
  %last = load ptr, ptr %kept
  call void @free(ptr %last)
  ret void
}

; Twice in one loop, and what is not a record in memory: each call gets the address of a copy, and the memory is given
; back where it was.
; CHECK-LABEL: define void @adgen_gradient_other(
; CHECK-NEXT:    %[[SECOND:.*]] = alloca %inner
; CHECK-NEXT:    %[[FIRST:.*]] = alloca %outer
; CHECK:         %record = load %outer, ptr %tape
; CHECK-NEXT:    call void @free(ptr %tape)
; CHECK:         store %outer %record, ptr %[[FIRST]]
; CHECK-NEXT:    call void @diffeouter(double %d, ptr %[[FIRST]])
; CHECK:         call void @diffeinner(double %d, ptr %[[SECOND]])
define void @adgen_gradient_other(double %d, %inner %given) {
  %tape = call ptr @augmented_outer()
  %record = load %outer, ptr %tape, align 8, !enzyme_mustcache !0
  call void @free(ptr %tape)
  %used = extractvalue %outer %record, 0
  call void @diffeouter(double %d, %outer %record)
  call void @diffeinner(double %d, %inner %given)
  ret void
}

; What is called by its address stays.
; CHECK-LABEL: define internal void @diffetaken(double %d, %inner %tapeArg)
define internal void @diffetaken(double %d, %inner %tapeArg) {
  ret void
}
define ptr @taken() {
  ret ptr @diffetaken
}

declare ptr @augmented_outer()
declare ptr @malloc(i64)
declare void @free(ptr)
declare double @llvm.sqrt.f64(double)

!0 = !{}
!1 = distinct !{}

; The reverse sweep of what every thread of a team runs takes it by value.
; CHECK-LABEL: define internal void @diffeadgen_region_r(double %d, %inner %tapeArg)
define internal void @diffeadgen_region_r(double %d, %inner %tapeArg) {
  %place = extractvalue %inner %tapeArg, 0
  store double %d, ptr %place
  ret void
}

define void @caller_of_region(ptr %tape) {
  %kept = load %inner, ptr %tape
  call void @diffeadgen_region_r(double 1.0, %inner %kept)
  ret void
}
