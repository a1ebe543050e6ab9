; Hints to unroll go, but where the loop disappears or lies in one that does.
;
; RUN: %opt -passes='adgen-strip-unroll-hints' -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_body_by_four(
; CHECK: br i1 %again, label %loop, label %done, !llvm.loop [[PLAIN:![0-9]+]]
define void @adgen_body_by_four(ptr %p, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  store i32 %i, ptr %p
  %next = add nsw i32 %i, 1
  %again = icmp slt i32 %next, 96
  br i1 %again, label %loop, label %done, !llvm.loop !0
done:
  ret void
}

; Without a number: of unknown length.
; CHECK-LABEL: define void @adgen_body_unknown(
; CHECK: br i1 %again, label %loop, label %done, !llvm.loop [[PLAIN_TOO:![0-9]+]]
define void @adgen_body_unknown(ptr %p, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  store i32 %i, ptr %p
  %next = add nsw i32 %i, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %done, !llvm.loop !3
done:
  ret void
}

; The outer loop disappears, and the inner one is then of known length.
; CHECK-LABEL: define void @adgen_body_triangle(
; CHECK: br i1 %more, label %inner, label %after, !llvm.loop [[INNER:![0-9]+]]
; CHECK: br i1 %again, label %loop, label %done, !llvm.loop [[OUTER:![0-9]+]]
define void @adgen_body_triangle(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 1, %entry ], [ %next, %after ]
  br label %inner
inner:
  %j = phi i32 [ 0, %loop ], [ %further, %inner ]
  store i32 %j, ptr %p
  %further = add nsw i32 %j, 1
  %more = icmp slt i32 %further, %i
  br i1 %more, label %inner, label %after, !llvm.loop !6
after:
  %next = add nsw i32 %i, 1
  %again = icmp slt i32 %next, 4
  br i1 %again, label %loop, label %done, !llvm.loop !5
done:
  ret void
}

; The primal on the GPU is compiled as it was written.
; CHECK-LABEL: define ptx_kernel void @by_four(
; CHECK: br i1 %again, label %loop, label %done, !llvm.loop [[HINTED:![0-9]+]]
define ptx_kernel void @by_four(ptr %p, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  store i32 %i, ptr %p
  %next = add nsw i32 %i, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %done, !llvm.loop !7
done:
  ret void
}

; CHECK-DAG: [[PLAIN]] = distinct !{[[PLAIN]], [[PROGRESS:![0-9]+]]}
; CHECK-DAG: [[PLAIN_TOO]] = distinct !{[[PLAIN_TOO]], [[PROGRESS]]}
; CHECK-DAG: [[INNER]] = distinct !{[[INNER]], [[ENABLE:![0-9]+]]}
; CHECK-DAG: [[OUTER]] = distinct !{[[OUTER]], [[ENABLE]]}
; CHECK-DAG: [[HINTED]] = distinct !{[[HINTED]], [[COUNT:![0-9]+]]}
; CHECK-DAG: [[PROGRESS]] = !{!"llvm.loop.mustprogress"}
; CHECK-DAG: [[ENABLE]] = !{!"llvm.loop.unroll.enable"}
; CHECK-DAG: [[COUNT]] = !{!"llvm.loop.unroll.count", i32 4}
!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.mustprogress"}
!2 = !{!"llvm.loop.unroll.count", i32 4}
!3 = distinct !{!3, !1, !4}
!4 = !{!"llvm.loop.unroll.enable"}
!5 = distinct !{!5, !4}
!6 = distinct !{!6, !4}
!7 = distinct !{!7, !2}
