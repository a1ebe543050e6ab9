; What has a pole is computed on the way that chooses it: at a merge, of a select, of an extreme. What comparisons use otherwise stays, and has no
; derivative. What is used elsewhere, what has no pole, and what an outer loop computes stays where it is.
;
; RUN: %opt -passes='adgen-sink-singularities,verify' -S %s | %filecheck %s

; A number that is taken away from itself is a constant; one of a choice that is not taken away from itself stays.
; CHECK-LABEL: define double @adgen_body_difference(
; CHECK-NEXT:    %[[SIZE:.*]] = call double @llvm.fabs.f64(double %x)
; CHECK-NEXT:    %[[FINITE:.*]] = fcmp olt double %[[SIZE]], 0x7FF0000000000000
; CHECK-NEXT:    %[[NOTHING:.*]] = select i1 %[[FINITE]], double 0.000000e+00, double 0x7FF8000000000000
; CHECK-NEXT:    ret double %[[NOTHING]]
define double @adgen_body_difference(double %x) {
  %d = fsub double %x, %x
  ret double %d
}
; CHECK-LABEL: define double @adgen_body_difference_chosen(
; CHECK-NOT:     fneg
; CHECK:         %[[NOTHING:.*]] = select i1 %{{.*}}, double 0.000000e+00, double 0x7FF8000000000000
; CHECK-NEXT:    %[[SUM:.*]] = fadd contract double %x, %y
; CHECK-NEXT:    %[[CHOSEN:.*]] = select i1 %c, double %[[SUM]], double %[[NOTHING]]
; CHECK-NEXT:    ret double %[[CHOSEN]]
define double @adgen_body_difference_chosen(double %x, double %y, i1 %c) {
  %neg = fneg double %x
  %part = select i1 %c, double %y, double %neg
  %d = fadd contract double %part, %x
  ret double %d
}
; CHECK-LABEL: define double @adgen_body_other_difference(
; CHECK:         %d = fadd double %part, %z
; CHECK-NEXT:    ret double %d
define double @adgen_body_other_difference(double %x, double %y, double %z, i1 %c) {
  %neg = fneg double %x
  %part = select i1 %c, double %y, double %neg
  %d = fadd double %part, %z
  ret double %d
}

; CHECK-LABEL: define double @adgen_body_merge(
; CHECK-NOT:     call double @llvm.log
; CHECK:         br i1 %zero, label %then, label %[[WAY:.*]]
; CHECK:       [[WAY]]:
; CHECK-NEXT:    %[[LOG:.*]] = call double @llvm.log.f64(double %v)
; CHECK-NEXT:    %[[R:.*]] = fmul double %v, %[[LOG]]
; CHECK-NEXT:    call void @adgen_pin_way()
; CHECK-NEXT:    br label %join
; CHECK:         %chosen = phi double [ %[[R]], %[[WAY]] ], [ %k, %then ]
define double @adgen_body_merge(double %v, double %k, ptr %p) {
  %log = call double @llvm.log.f64(double %v)
  %r = fmul double %v, %log
  %zero = fcmp oeq double %v, 0.0
  br i1 %zero, label %then, label %join
then:
  store double %k, ptr %p
  br label %join
join:
  %chosen = phi double [ %r, %0 ], [ %k, %then ]
  ret double %chosen
}

; CHECK-LABEL: define double @adgen_body_select(
; CHECK:         %q = fdiv double %k, %v, !enzyme_inactive_val
; CHECK-NEXT:    %size = call double @llvm.fabs.f64(double %q)
; CHECK-NEXT:    %big = fcmp ogt double %size, 1.000000e+03
; CHECK-NEXT:    br i1 %big, label %{{.*}}, label %[[ELSE:.*]]
; CHECK:       [[ELSE]]:
; CHECK-NEXT:    fdiv double %k, %v
; CHECK-NOT:     inactive
; CHECK:         ret double
define double @adgen_body_select(double %v, double %k) {
  %q = fdiv double %k, %v
  %size = call double @llvm.fabs.f64(double %q)
  %big = fcmp ogt double %size, 1.0e+3
  %chosen = select i1 %big, double 0.0, double %q
  ret double %chosen
}

; CHECK-LABEL: define double @adgen_body_extreme(
; CHECK:         %[[DECIDES:.*]] = fdiv double 1.000000e+00, %v, !enzyme_inactive_val
; CHECK-NEXT:    %[[LESS:.*]] = fcmp olt double %[[DECIDES]], 1.000000e+06
; CHECK-NEXT:    br i1 %[[LESS]]
; CHECK:         fdiv double 1.000000e+00, %v
; CHECK:         phi double
define double @adgen_body_extreme(double %v) {
  %q = fdiv double 1.0, %v
  %least = call double @llvm.minnum.f64(double %q, double 1.0e+6)
  ret double %least
}

; CHECK-LABEL: define double @adgen_body_elsewhere(
; CHECK-NOT:     br
; CHECK:         ret double
define double @adgen_body_elsewhere(double %v, double %k, i1 %c, ptr %p) {
  %q = fdiv double %k, %v
  store double %q, ptr %p
  %smooth = fmul double %v, %k
  %one = select i1 %c, double %q, double 0.0
  %other = select i1 %c, double %smooth, double %one
  ret double %other
}

; CHECK-LABEL: define void @adgen_body_loop(
; CHECK:         %q = fdiv double %k, %v
; CHECK:       loop:
; CHECK-NOT:     fdiv
; CHECK:         ret void
define void @adgen_body_loop(double %v, double %k, ptr %p, i64 %n) {
  %q = fdiv double %k, %v
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %c = icmp slt i64 %i, 3
  %chosen = select i1 %c, double %q, double 0.0
  %at = getelementptr double, ptr %p, i64 %i
  store double %chosen, ptr %at
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; One quotient in two results that one condition drops.
; CHECK-LABEL: define double @adgen_body_two_results(
; CHECK-NEXT:    %zero = fcmp
; CHECK-NEXT:    br i1 %zero, label %[[MERGE:.*]], label %[[KEPT:.*]]
; CHECK:       [[KEPT]]:
; CHECK-NEXT:    %[[Q:.*]] = fdiv double 1.000000e+00, %v
; CHECK-NEXT:    %[[A:.*]] = fmul double %[[Q]], %k
; CHECK-NEXT:    %[[B:.*]] = fmul double %[[Q]], %[[Q]]
; CHECK-NEXT:    call void @adgen_pin_way()
; CHECK:         phi double [ 2.000000e+00, %{{.*}} ], [ %[[B]], %[[KEPT]] ]
; CHECK-NEXT:    phi double [ 0.000000e+00, %{{.*}} ], [ %[[A]], %[[KEPT]] ]
; CHECK-NOT:     fdiv
; CHECK:         ret double
define double @adgen_body_two_results(double %v, double %k, ptr %p) {
  %q = fdiv double 1.0, %v
  %zero = fcmp oeq double %v, 0.0
  %x = fmul double %q, %k
  %a = select i1 %zero, double 0.0, double %x
  store double %a, ptr %p
  %y = fmul double %q, %q
  %b = select i1 %zero, double 2.0, double %y
  ret double %b
}

; CHECK-LABEL: define double @adgen_body_two_at_a_merge(
; CHECK:         br i1 %zero, label %then, label %[[WAY:.*]]
; CHECK:       [[WAY]]:
; CHECK-NEXT:    fdiv double %k, %v
; CHECK-NEXT:    fmul
; CHECK-NEXT:    call void @adgen_pin_way()
; CHECK-NOT:     fdiv
; CHECK:         ret double
define double @adgen_body_two_at_a_merge(double %v, double %k, ptr %p) {
  %q = fdiv double %k, %v
  %x = fmul double %q, %k
  %zero = fcmp oeq double %v, 0.0
  br i1 %zero, label %then, label %join
then:
  store double %k, ptr %p
  br label %join
join:
  %a = phi double [ %q, %0 ], [ %k, %then ]
  %b = phi double [ %x, %0 ], [ 1.0, %then ]
  %sum = fadd double %a, %b
  ret double %sum
}

declare double @llvm.fabs.f64(double)
declare double @llvm.log.f64(double)
declare double @llvm.minnum.f64(double, double)

; What is used in another loop, replaced in memory, or left in a shared array, may be dropped all the same, and so may
; what is infinite before a function that is finite there: the gradient is marked, and what is kept in such a body. What only a comparison uses, and
; a quotient by what is greater than zero, drops nothing. What is divided by a number of iterations is finite where these
; iterations use it, but its own derivative, behind them, is guarded.
; CHECK: define void @adgen_gradient_replaced() #[[DROPS:[0-9]+]]
; CHECK: define void @adgen_gradient_swallowed() #[[DROPS]]
; CHECK: define void @adgen_gradient_kept() #[[KEEPS:[0-9]+]]
; CHECK: define void @adgen_gradient_compared() #[[KEEPS]]
; CHECK: define void @adgen_gradient_counted() #[[DROPS]]
; CHECK: define void @adgen_gradient_shared() #[[DROPS]]
; CHECK: define void @adgen_gradient_lattice() #[[DROPS]]
; CHECK: define void @adgen_gradient_lattice_stored() #[[DROPS]]
; CHECK: define void @adgen_gradient_root_stored() #[[KEEPS]]
; CHECK: define void @adgen_gradient_finite() #[[KEEPS]]
; CHECK-LABEL: define void @adgen_body_replaced(
; CHECK:         %q = fdiv double 1.000000e+00, %v{{$}}
; CHECK:         fdiv double %k, %b, !adgen.kept !{{[0-9]+}}, !adgen.kept_argument
; CHECK-LABEL: define void @adgen_body_counted(
; CHECK:         %step = fdiv double %v, %of, !adgen.kept !{{[0-9]+$}}
; CHECK:         %used = fdiv double %v, %of{{$}}
; CHECK-LABEL: define void @adgen_body_kept(
; CHECK-NOT:     !adgen.kept
; CHECK-DAG: attributes #[[DROPS]] = { "adgen-dropped-poles" "mark" }
; CHECK-DAG: attributes #[[KEEPS]] = { "mark" }
define void @adgen_gradient_replaced() #9 {
  ret void
}
define void @adgen_gradient_swallowed() #9 {
  ret void
}
define void @adgen_gradient_kept() #9 {
  ret void
}
define void @adgen_gradient_compared() #9 {
  ret void
}
define void @adgen_gradient_counted() #9 {
  ret void
}
define void @adgen_gradient_shared() #9 {
  ret void
}
define void @adgen_gradient_lattice() #9 {
  ret void
}
define void @adgen_gradient_lattice_stored() #9 {
  ret void
}
define void @adgen_gradient_root_stored() #9 {
  ret void
}
define void @adgen_gradient_finite() #9 {
  ret void
}
define void @adgen_body_replaced(double %v, double %k, ptr %y, ptr %z, i1 %also) {
  %b = fadd double %v, %v
  %q = fdiv double 1.0, %v
  %p = fdiv double %k, %b
  store double %p, ptr %z
  store double %q, ptr %y
  br i1 %also, label %again, label %end
again:
  store double %v, ptr %y
  br label %end
end:
  ret void
}
define void @adgen_body_swallowed(double %v, ptr %y) {
  %q = fdiv double 1.0, %v
  %t = call double @__nv_tanh(double %q)
  store double %t, ptr %y
  ret void
}
define void @adgen_body_shared(double %v, ptr %y, ptr %tile) "adgen-shared"="tile" {
  %q = fdiv double 1.0, %v
  store double %q, ptr %tile
  store double %v, ptr %y
  ret void
}
define void @adgen_body_compared(double %v, ptr %y, i1 %also) {
  %q = fdiv double 1.0, %v
  %big = fcmp ogt double %q, 2.0
  %square = fmul double %v, %v
  %sum = fadd double %square, 1.0
  %smooth = fdiv double %v, %sum
  %either = or i1 %big, %also
  br i1 %either, label %then, label %end
then:
  store double %smooth, ptr %y
  br label %end
end:
  ret void
}
define void @adgen_body_counted(double %v, ptr %y, i32 %n) {
  %of = sitofp i32 %n to double
  %step = fdiv double %v, %of
  %used = fdiv double %v, %of
  %bounded = call double @__nv_tanh(double %used)
  store double %bounded, ptr %y
  %any = icmp sgt i32 %n, 0
  br i1 %any, label %loop, label %end
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %t = call double @__nv_tanh(double %step)
  %at = getelementptr double, ptr %y, i32 %i
  store double %t, ptr %at
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret void
}
declare double @__nv_tanh(double) memory(none)
define void @adgen_body_kept(double %v, ptr %y, i32 %n) {
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %sum = phi double [ 0.0, %0 ], [ %more, %loop ]
  %q = fdiv double 1.0, %v
  %more = fadd double %sum, %q
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %end
end:
  %all = phi double [ %more, %loop ]
  store double %all, ptr %y
  ret void
}
; A kernel that computes with infinities, and goes on with what it has stored, as with the logarithms of probabilities.
define void @adgen_body_lattice(ptr %x, ptr %y, i32 %n) {
  store double 0xFFF0000000000000, ptr %y
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %from = getelementptr double, ptr %y, i32 %i
  %before = load double, ptr %from
  %p = call double @__nv_exp(double %before)
  %l = call double @__nv_log(double %p)
  %next = add i32 %i, 1
  %to = getelementptr double, ptr %y, i32 %next
  store double %l, ptr %to
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret void
}
; Such a logarithm is a result, and something else goes on with it.
define void @adgen_body_lattice_stored(ptr %x, ptr %y, i1 %some) {
  %v = load double, ptr %x
  %p = select i1 %some, double %v, double 0xFFF0000000000000
  %e = call double @__nv_exp(double %p)
  %l = call double @__nv_log(double %e)
  %sum = fadd double %l, %v
  store double %sum, ptr %y
  ret void
}
define void @adgen_body_root_stored(ptr %x, ptr %y, i1 %some) {
  %v = load double, ptr %x
  %p = select i1 %some, double %v, double 0xFFF0000000000000
  %e = call double @__nv_exp(double %p)
  %q = fdiv double %v, %e
  store double %q, ptr %y
  ret void
}
define void @adgen_body_finite(ptr %x, ptr %y, i32 %n) {
  store double 1.0, ptr %y
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %from = getelementptr double, ptr %y, i32 %i
  %before = load double, ptr %from
  %p = call double @__nv_exp(double %before)
  %l = call double @__nv_log(double %p)
  %next = add i32 %i, 1
  %to = getelementptr double, ptr %y, i32 %next
  store double %l, ptr %to
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret void
}
declare double @__nv_exp(double) memory(none)
declare double @__nv_log(double) memory(none)
attributes #9 = { "mark" }
