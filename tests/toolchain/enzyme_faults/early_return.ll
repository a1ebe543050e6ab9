; if (i >= n || mask[i]) return: the reverse sweep reads mask[i] for every i.
; fault: killed
; workaround: adgen-split-multiway-merges
; before: adgen-split-multiway-merges
; after: adgen-strip-guards
define void @f(ptr %x, ptr %y, ptr %mask, i64 %i, i64 %n) {
entry:
  %inside = icmp slt i64 %i, %n
  br i1 %inside, label %ask, label %end
ask:
  %at = getelementptr i8, ptr %mask, i64 %i
  %mark = load i8, ptr %at
  %masked = icmp ne i8 %mark, 0
  br i1 %masked, label %end, label %work
work:
  %v = load double, ptr %x, !tbaa !3
  %s = fmul double %v, %v
  store double %s, ptr %y, !tbaa !3
  br label %end
end:
  ret void
}
declare void @__enzyme_autodiff(...)
@enzyme_const = external global i32
; outside of n there is no mask to read
define double @gap() {
  %x = alloca double
  %y = alloca double
  %dx = alloca double
  %dy = alloca double
  store double 2.0, ptr %x
  store double 0.0, ptr %dx
  store double 1.0, ptr %dy
  call void (...) @__enzyme_autodiff(ptr @f, ptr %x, ptr %dx, ptr %y, ptr %dy, metadata !"enzyme_const", ptr null, i64 5, i64 2)
  %d = load double, ptr %dx
  ret double %d
}
!0 = !{!"double", !1}
!1 = !{!"omnipotent char", !2}
!2 = !{!"Simple C++ TBAA"}
!3 = !{!0, !0, i64 0}
