; What is indexed from a member on has the tag of its type alone. What is indexed by whole objects, or names a member,
; keeps its own.
;
; RUN: %opt -passes='adgen-leave-members' -S %s | %filecheck %s

%struct.Point = type { float, float, float }
%struct.Frame = type { %struct.Point, %struct.Point }

; CHECK-LABEL: define float @component(
; CHECK:         load float, ptr %at, align 4, !tbaa [[FLOAT:![0-9]+]]
define float @component(ptr %v, i64 %k) {
  %x = getelementptr inbounds nuw %struct.Point, ptr %v, i32 0, i32 0
  %at = getelementptr inbounds float, ptr %x, i64 %k
  %r = load float, ptr %at, align 4, !tbaa !0
  ret float %r
}

; CHECK-LABEL: define void @neighbour(
; CHECK:         store float 1.000000e+00, ptr %at, align 4, !tbaa [[FLOAT]]
define void @neighbour(ptr %v) {
  %x = getelementptr inbounds nuw %struct.Point, ptr %v, i32 0, i32 0
  %at = getelementptr inbounds float, ptr %x, i64 1
  store float 1.0, ptr %at, align 4, !tbaa !0
  ret void
}

; CHECK-LABEL: define float @row(
; CHECK:         load float, ptr %y, align 4, !tbaa [[FLOAT]]
define float @row(ptr %f, i64 %k) {
  %first = getelementptr inbounds nuw %struct.Frame, ptr %f, i32 0, i32 0
  %at = getelementptr inbounds %struct.Point, ptr %first, i64 %k
  %y = getelementptr inbounds nuw %struct.Point, ptr %at, i32 0, i32 1
  %r = load float, ptr %y, align 4, !tbaa !6
  ret float %r
}

; CHECK-LABEL: define float @element(
; CHECK:         load float, ptr %y, align 4, !tbaa [[MEMBER:![0-9]+]]
define float @element(ptr %p, i64 %k) {
  %at = getelementptr inbounds %struct.Point, ptr %p, i64 %k
  %y = getelementptr inbounds nuw %struct.Point, ptr %at, i32 0, i32 1
  %r = load float, ptr %y, align 4, !tbaa !5
  ret float %r
}

; CHECK-DAG:     [[FLOAT]] = !{[[T:![0-9]+]], [[T]], i64 0}
; CHECK-DAG:     [[MEMBER]] = !{[[P:![0-9]+]], [[T]], i64 4}
; CHECK-DAG:     [[T]] = !{!"float",

!0 = !{!1, !2, i64 0}
!1 = !{!"_ZTS5Point", !2, i64 0, !2, i64 4, !2, i64 8}
!2 = !{!"float", !3, i64 0}
!3 = !{!"omnipotent char", !4, i64 0}
!4 = !{!"Simple C++ TBAA"}
!5 = !{!1, !2, i64 4}
!6 = !{!7, !2, i64 4}
!7 = !{!"_ZTS5Frame", !1, i64 0, !1, i64 12}
