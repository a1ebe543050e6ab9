; What the reversal reads again is read by the address that the iteration has read it by, though a part of one of the two sums was moved
; out of the loop: what it decides and computes by that is then found to be known.
;
; RUN: %opt -passes=adgen-separate-decisions -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_gradient_read_again(
; CHECK:       loop:
; CHECK:         %z = load double, ptr %from
; CHECK:         %w = fdiv double {{.*}}, %z
; CHECK-NOT:     ptr %from.again
; CHECK-NOT:     fdiv
; CHECK:         fmul double %w, %cotangent
; CHECK:         ret void
define void @adgen_gradient_read_again(ptr noalias readonly %x, ptr noalias %y, i32 %first, i32 %row, i32 %n, ptr noalias "adgen-shadow" %d_x, ptr noalias "adgen-shadow" %d_y) "adgen-activity"="duplicated:duplicated:const:const:const" {
entry:
  %both = add i32 %first, %row
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %end ]
  %at = add i32 %i, %first
  %in_row = add i32 %at, %row
  %wide = sext i32 %in_row to i64
  %from = getelementptr inbounds double, ptr %x, i64 %wide
  %z = load double, ptr %from
  %small = fcmp olt double %z, 2.0
  br i1 %small, label %near, label %far
near:
  %q.near = fdiv double 3.0, %z
  br label %join
far:
  %q = fdiv double 1.0, %z
  br label %join
join:
  %w = phi double [ %q.near, %near ], [ %q, %far ]
  %place = zext i32 %at to i64
  %to = getelementptr inbounds double, ptr %y, i64 %place
  store double %w, ptr %to
  %d_to = getelementptr inbounds double, ptr %d_y, i64 %place
  %cotangent = load double, ptr %d_to
  %again = add i32 %i, %both
  %wide.again = sext i32 %again to i64
  %from.again = getelementptr inbounds double, ptr %x, i64 %wide.again
  %z.again = load double, ptr %from.again
  %small.again = fcmp olt double %z.again, 2.0
  br i1 %small.again, label %near.again, label %far.again
near.again:
  %q.near.again = fdiv double 3.0, %z.again
  br label %invert
far.again:
  %q.again = fdiv double 1.0, %z.again
  br label %invert
invert:
  %w.again = phi double [ %q.near.again, %near.again ], [ %q.again, %far.again ]
  %part = fmul double %w.again, %cotangent
  %d_from = getelementptr inbounds double, ptr %d_x, i64 %wide
  %old = atomicrmw fadd ptr %d_from, double %part monotonic
  br label %end
end:
  %next = add nuw nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}
