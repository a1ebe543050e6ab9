; a[i] = a[i + 1]^2: a[i + 1] is read again in the reverse sweep, where the next iteration has overwritten it.
; fault: wrong
; workaround: adgen-expose-overwrites
; before: adgen-expose-overwrites
; after: adgen-strip-guards
define void @f(ptr %a, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %next = add nuw nsw i64 %i, 1
  %from = getelementptr inbounds double, ptr %a, i64 %next
  %v = load double, ptr %from
  %s = fmul double %v, %v
  %to = getelementptr inbounds double, ptr %a, i64 %i
  store double %s, ptr %to
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}
declare void @__enzyme_autodiff(...)
; a = 1 2 3, then 4 9 3; of a[0] the cotangent is 1: d a[1] = 2 * 2
define double @gap() {
  %a = alloca [3 x double]
  %d = alloca [3 x double]
  store [3 x double] [double 1.0, double 2.0, double 3.0], ptr %a
  store [3 x double] [double 1.0, double 0.0, double 0.0], ptr %d
  call void (...) @__enzyme_autodiff(ptr @f, ptr %a, ptr %d, i64 2)
  %p = getelementptr double, ptr %d, i64 1
  %r = load double, ptr %p
  %g = fsub double %r, 4.0
  ret double %g
}
