; A loop that carries what a derivative needs does up to 16 steps in an iteration, then up to 4, then one. Sums, loops that do more than
; compute, long steps, short loops and loops that end where the data says so stay as they are.
;
; RUN: %opt -passes=adgen-strip-mine-recurrences,verify -S %s | %filecheck %s
; RUN: %opt -passes='adgen-strip-mine-recurrences,print<scalar-evolution>' -disable-output %s 2>&1 | %filecheck %s --check-prefix=COUNTED

; CHECK-LABEL: define double @adgen_body_recurrence(
; CHECK:         and i32 %n, 15
; CHECK:       loop:
; CHECK-COUNT-16: fmul double
; CHECK:         br i1 {{.*}}, label %loop
; CHECK:       loop.epil:
; CHECK-COUNT-4: fmul double
; CHECK:         br i1 {{.*}}, label %loop.epil,
; CHECK:       loop.epil.epil:
; CHECK:         fmul double
; CHECK-NOT:     fmul double
; CHECK:         ret double
; COUNTED-LABEL: @adgen_body_recurrence
; COUNTED:       Loop %loop.epil.epil: backedge-taken count is
; COUNTED:       Loop %loop.epil: backedge-taken count is
; COUNTED:       Loop %loop: backedge-taken count is
define double @adgen_body_recurrence(double %start, i32 %n) {
entry:
  br label %loop
loop:
  %x = phi double [ %start, %entry ], [ %next, %loop ]
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %left = fsub double 1.0, %x
  %next = fmul double %x, %left
  %i.next = add nuw i32 %i, 1
  %done = icmp eq i32 %i.next, %n
  br i1 %done, label %end, label %loop
end:
  ret double %next
}

; A step of ten operations: 128 / 10, rounded down to a power of two.
; CHECK-LABEL: define double @adgen_body_longer(
; CHECK:       loop:
; CHECK-COUNT-80: fmul double
; CHECK:         br i1 {{.*}}, label %loop
; CHECK:       loop.epil:
; CHECK-COUNT-20: fmul double
; CHECK:       loop.epil.epil:
; CHECK-COUNT-10: fmul double
; CHECK-NOT:     fmul double
; CHECK:         ret double
define double @adgen_body_longer(double %start, i32 %n) {
entry:
  br label %loop
loop:
  %x = phi double [ %start, %entry ], [ %x10, %loop ]
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %x1 = fmul double %x, %x
  %x2 = fmul double %x1, %x
  %x3 = fmul double %x2, %x
  %x4 = fmul double %x3, %x
  %x5 = fmul double %x4, %x
  %x6 = fmul double %x5, %x
  %x7 = fmul double %x6, %x
  %x8 = fmul double %x7, %x
  %x9 = fmul double %x8, %x
  %x10 = fmul double %x9, %x
  %i.next = add nuw i32 %i, 1
  %done = icmp eq i32 %i.next, %n
  br i1 %done, label %end, label %loop
end:
  ret double %x10
}

; A function of mathematics is four operations: 128 / 34.
; CHECK-LABEL: define double @adgen_body_function(
; CHECK:       loop:
; CHECK-COUNT-16: call double @__nv_exp
; CHECK-NOT:     call double @__nv_exp
; CHECK:         br i1 {{.*}}, label %loop
; CHECK:         ret double
define double @adgen_body_function(double %start, i32 %n) {
entry:
  br label %loop
loop:
  %x = phi double [ %start, %entry ], [ %next, %loop ]
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %x1 = call double @__nv_exp(double %x)
  %x2 = call double @__nv_exp(double %x1)
  %x3 = call double @__nv_exp(double %x2)
  %x4 = call double @__nv_exp(double %x3)
  %x5 = call double @__nv_exp(double %x4)
  %x6 = call double @__nv_exp(double %x5)
  %x7 = call double @__nv_exp(double %x6)
  %x8 = call double @__nv_exp(double %x7)
  %sum = fadd double %x8, %x
  %next = fmul double %sum, %x
  %i.next = add nuw i32 %i, 1
  %done = icmp eq i32 %i.next, %n
  br i1 %done, label %end, label %loop
end:
  ret double %next
}

declare double @__nv_exp(double) nounwind willreturn memory(none)

; The derivative of a sum, also of products and by fused operations, needs no carried value.
; CHECK-LABEL: define double @adgen_body_sum(
; CHECK:         call double @llvm.fma
; CHECK-NOT:     call double @llvm.fma
; CHECK-NOT:     loop.epil
; CHECK:         ret double
define double @adgen_body_sum(double %a, i32 %n) {
entry:
  br label %loop
loop:
  %sum = phi double [ 0.0, %entry ], [ %next, %loop ]
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %number = sitofp i32 %i to double
  %more = call double @llvm.fma.f64(double %a, double %number, double %sum)
  %larger = fcmp ogt double %more, %sum
  %next = select i1 %larger, double %more, double %sum
  %i.next = add nuw i32 %i, 1
  %done = icmp eq i32 %i.next, %n
  br i1 %done, label %end, label %loop
end:
  ret double %next
}

; CHECK-LABEL: define double @adgen_body_writes(
; CHECK-NOT:     loop.epil
; CHECK:         ret double
define double @adgen_body_writes(ptr %out, double %start, i32 %n) {
entry:
  br label %loop
loop:
  %x = phi double [ %start, %entry ], [ %next, %loop ]
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %next = fmul double %x, %x
  %at = getelementptr double, ptr %out, i32 %i
  store double %next, ptr %at
  %i.next = add nuw i32 %i, 1
  %done = icmp eq i32 %i.next, %n
  br i1 %done, label %end, label %loop
end:
  ret double %next
}

; CHECK-LABEL: define double @adgen_body_short(
; CHECK-NOT:     loop.epil
; CHECK:         icmp eq i32 %i.next, 12
define double @adgen_body_short(double %start) {
entry:
  br label %loop
loop:
  %x = phi double [ %start, %entry ], [ %next, %loop ]
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %next = fmul double %x, %x
  %i.next = add nuw i32 %i, 1
  %done = icmp eq i32 %i.next, 12
  br i1 %done, label %end, label %loop
end:
  ret double %next
}

; CHECK-LABEL: define double @adgen_body_until(
; CHECK-NOT:     loop.epil
; CHECK:         ret double
define double @adgen_body_until(double %start) {
entry:
  br label %loop
loop:
  %x = phi double [ %start, %entry ], [ %next, %loop ]
  %next = fmul double %x, %x
  %done = fcmp olt double %next, 0.125
  br i1 %done, label %end, label %loop
end:
  ret double %next
}

; Only bodies are differentiated.
; CHECK-LABEL: define double @kernel(
; CHECK-NOT:     loop.epil
; CHECK:         ret double
define double @kernel(double %start, i32 %n) {
entry:
  br label %loop
loop:
  %x = phi double [ %start, %entry ], [ %next, %loop ]
  %i = phi i32 [ 0, %entry ], [ %i.next, %loop ]
  %next = fmul double %x, %x
  %i.next = add nuw i32 %i, 1
  %done = icmp eq i32 %i.next, %n
  br i1 %done, label %end, label %loop
end:
  ret double %next
}

declare double @llvm.fma.f64(double, double, double)
