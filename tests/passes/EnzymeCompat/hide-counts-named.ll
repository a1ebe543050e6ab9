; The number of elements is known by what clang calls it, too, where the container lies in another one's node.
; RUN: %opt -passes=adgen-hide-counts -S %s | %filecheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: define void @adgen_body_list(
; CHECK:         call void @adgen_count_of_elements{{.*}}(i64 1, ptr %count)
; CHECK:         store i64 1, ptr %behind
define void @adgen_body_list(ptr %place) {
  %list = load ptr, ptr %place
  %count = getelementptr inbounds i8, ptr %list, i64 24
  store i64 1, ptr %count, !tbaa !0
  %behind = getelementptr inbounds i8, ptr %list, i64 32
  store i64 1, ptr %behind, !tbaa !10
  ret void
}

; CHECK-LABEL: define void @adgen_body_map(
; CHECK:         call i64 @adgen_count_of_elements
define void @adgen_body_map(ptr %place) {
  %map = load ptr, ptr %place
  %count = getelementptr inbounds i8, ptr %map, i64 40
  %n = load i64, ptr %count, !tbaa !11
  store i64 %n, ptr %place
  ret void
}

!0 = !{!1, !9, i64 24}
!1 = !{!"_ZTS5Level", !9, i64 0, !2, i64 8, !9, i64 32}
!2 = !{!"_ZTSNSt7__cxx1110_List_baseIdSaIdEEE", !3, i64 0}
!3 = !{!"_ZTSNSt8__detail17_List_node_headerE", !4, i64 0, !9, i64 16}
!4 = !{!"_ZTSNSt8__detail15_List_node_baseE", !5, i64 0, !5, i64 8}
!5 = !{!"any pointer", !6, i64 0}
!6 = !{!"omnipotent char", !7, i64 0}
!7 = !{!"Simple C++ TBAA"}
!9 = !{!"long", !6, i64 0}
!10 = !{!1, !9, i64 32}
!11 = !{!12, !9, i64 32}
!12 = !{!"_ZTSSt15_Rb_tree_header", !13, i64 0, !9, i64 32}
!13 = !{!"_ZTSSt18_Rb_tree_node_base", !9, i64 0, !5, i64 8, !5, i64 16, !5, i64 24}
