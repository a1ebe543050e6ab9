; while (k >= n): Enzyme takes n - 1 for n + (2^32 - 1) without overflow, and a loop from 0 to n for 2^32 + n - 1 long.
; fault: killed
; workaround: adgen-clamp-trip-counts
; before: adgen-clamp-trip-counts
; after: adgen-strip-guards
define void @f(ptr %x, ptr %y, i32 %k, i32 %n) {
entry:
  br label %down
down:
  %k.now = phi i32 [ %k, %entry ], [ %k.next, %down ]
  %low = and i32 %k.now, 3
  %less = xor i32 %low, -1
  %k.next = add i32 %n, %less
  %below = icmp slt i32 %k.next, %n
  br i1 %below, label %sums, label %down
sums:
  %any = icmp sgt i32 %n, 0
  br i1 %any, label %sum, label %end
sum:
  %i = phi i32 [ 0, %sums ], [ %i.next, %sum ]
  %s = phi double [ 0.0, %sums ], [ %s.next, %sum ]
  %at = zext i32 %i to i64
  %from = getelementptr double, ptr %x, i64 %at
  %v = load double, ptr %from, !tbaa !3
  %square = fmul double %v, %v
  %s.next = fadd double %s, %square
  %i.next = add nuw nsw i32 %i, 1
  %done = icmp eq i32 %i.next, %n
  br i1 %done, label %end, label %sum
end:
  %total = phi double [ 0.0, %sums ], [ %s.next, %sum ]
  store double %total, ptr %y, !tbaa !3
  ret void
}
declare void @__enzyme_autodiff(...)
@enzyme_const = external global i32
define double @gap() {
  %x = alloca [3 x double]
  %y = alloca double
  %dx = alloca [3 x double]
  %dy = alloca double
  store [3 x double] [double 1.0, double 2.0, double 3.0], ptr %x
  store [3 x double] zeroinitializer, ptr %dx
  store double 1.0, ptr %dy
  call void (...) @__enzyme_autodiff(ptr @f, ptr %x, ptr %dx, ptr %y, ptr %dy, i32 1, i32 3)
  %p = getelementptr double, ptr %dx, i64 2
  %d = load double, ptr %p
  %g = fsub double %d, 6.0
  ret double %g
}
!0 = !{!"double", !1}
!1 = !{!"omnipotent char", !2}
!2 = !{!"Simple C++ TBAA"}
!3 = !{!0, !0, i64 0}
