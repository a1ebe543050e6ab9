; The runtime is told of accesses before they happen: the thread at the beginning, reads, stores with their value, atomics, each with
; its place. Variables of the thread itself are left out.
;
; RUN: %opt -passes=adgen-record-accesses -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK: @[[PLACE:adgen_place.*]] = {{.*}} c"/folder/k.cu:7\00"
; CHECK-LABEL: define void @adgen_body_f(
; CHECK: call void @adgen_record_thread(i64 %{{.*}}, i32 %{{.*}}, i32 %{{.*}})
; CHECK-NEXT: %[[KEPT:.*]] = alloca float
; CHECK: call void @adgen_record_read(ptr %x, i64 4, ptr @[[PLACE]])
; CHECK-NEXT: %a = load float, ptr %x
; CHECK: store float %a, ptr %own
; CHECK: store float %a, ptr %[[KEPT]]
; CHECK-NEXT: call void @adgen_record_write(ptr %y, ptr %[[KEPT]], i64 4, ptr @[[PLACE]])
; CHECK-NEXT: store float %a, ptr %y
; CHECK: call void @adgen_record_pass(ptr %y, i64 4, i1 false)
; CHECK-NEXT: atomicrmw fadd
define void @adgen_body_f(ptr %x, ptr %y) !dbg !3 {
  %own = alloca float
  %a = load float, ptr %x, !dbg !5
  store float %a, ptr %own, !dbg !5
  store float %a, ptr %y, !dbg !5
  %old = atomicrmw fadd ptr %y, float %a monotonic, !dbg !5
  ret void
}

; CHECK-LABEL: define void @adgen_tangent_f(
; CHECK-NEXT: load
define void @adgen_tangent_f(ptr %x) {
  %a = load float, ptr %x
  ret void
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1)
!1 = !DIFile(filename: "k.cu", directory: "/folder")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = distinct !DISubprogram(name: "f", file: !1, line: 5, type: !4, unit: !0)
!4 = !DISubroutineType(types: !{})
!5 = !DILocation(line: 7, scope: !3)
