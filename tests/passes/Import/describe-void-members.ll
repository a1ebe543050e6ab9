; A member of type void * of a struct by value points to the one type of number that the function takes it for, here
; through a copy, a reference and a call; where that is not clear it stays void. Numbers of 16 bits are classes, which
; instructions name that step from one to another; structs of numbers are stepped over, too, and copied whole.
;
; RUN: %opt -passes=adgen-describe -disable-output %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK:      "name": "taken",
; CHECK:      "name": "p",
; CHECK:          "name": "mixed",
; CHECK:            "pointee": {
; CHECK-NEXT:         "kind": "void",
; CHECK:          "name": "x",
; CHECK:            "pointee": {
; CHECK-NEXT:         "kind": "float",
; CHECK-NEXT:         "name": "float",
; CHECK-NEXT:         "size": 4
; CHECK:          "name": "halves",
; CHECK:            "pointee": {
; CHECK:              "name": "__half",
; CHECK:              "size": 2
; CHECK:      "name": "structs",
; CHECK:          "name": "x",
; CHECK:            "pointee": {
; CHECK-NEXT:         "kind": "float",
; CHECK:          "name": "halves",
; CHECK:            "pointee": {
; CHECK-NEXT:         "kind": "void",
%struct.float2 = type { float, float }
%struct.Given = type { ptr, ptr, ptr }
%"struct.own::Half" = type { i16 }
define ptx_kernel void @taken(ptr byval(%struct.Given) align 8 %p) !dbg !20 {
  %copy = alloca %struct.Given
  %kept = alloca %"struct.own::Half"
  call void @llvm.memcpy.p0.p0.i64(ptr %copy, ptr %p, i64 24, i1 false)
  call void @reads(ptr %copy)
  %first = load ptr, ptr %p
  %integer = load i32, ptr %first
  %number = load float, ptr %first
  %third = getelementptr %struct.Given, ptr %p, i32 0, i32 2
  %halves = load ptr, ptr %third
  %half = getelementptr inbounds %"struct.own::Half", ptr %halves, i64 5
  call void @llvm.memcpy.p0.p0.i64(ptr %kept, ptr %half, i64 2, i1 false)
  ret void
}

define ptx_kernel void @structs(ptr byval(%struct.Given) align 8 %p) !dbg !30 {
  %own = alloca %struct.float2
  %member = getelementptr %struct.Given, ptr %p, i32 0, i32 1
  %x = load ptr, ptr %member
  %pair = getelementptr %struct.float2, ptr %x, i64 3
  call void @llvm.memcpy.p0.p0.i64(ptr %own, ptr %pair, i64 8, i1 false)
  ret void
}

define internal void @reads(ptr %given) {
  %reference = alloca ptr
  store ptr %given, ptr %reference
  %same = load ptr, ptr %reference
  %member = getelementptr %struct.Given, ptr %same, i32 0, i32 1
  %x = load ptr, ptr %member
  %at = getelementptr float, ptr %x, i64 3
  %v = load float, ptr %at
  ret void
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, emissionKind: FullDebug, retainedTypes: !25)
!2 = !DIFile(filename: "k.cu", directory: "/home/u")
!10 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: null, size: 64)
!11 = !DICompositeType(tag: DW_TAG_structure_type, name: "Given", file: !2, line: 2, size: 192, elements: !12)
!12 = !{!13, !14, !15}
!13 = !DIDerivedType(tag: DW_TAG_member, name: "mixed", scope: !11, file: !2, line: 3, baseType: !10, size: 64)
!14 = !DIDerivedType(tag: DW_TAG_member, name: "x", scope: !11, file: !2, line: 4, baseType: !10, size: 64, offset: 64)
!15 = !DIDerivedType(tag: DW_TAG_member, name: "halves", scope: !11, file: !2, line: 4, baseType: !10, size: 64, offset: 128)
!16 = !DICompositeType(tag: DW_TAG_structure_type, name: "__half", file: !2, line: 2, size: 16, elements: !17, identifier: "_ZTSN3own4HalfE")
!17 = !{!18}
!18 = !DIDerivedType(tag: DW_TAG_member, name: "x", scope: !16, file: !2, line: 3, baseType: !19, size: 16)
!19 = !DIBasicType(name: "unsigned short", size: 16, encoding: DW_ATE_unsigned)
!20 = distinct !DISubprogram(name: "taken", scope: !2, file: !2, line: 5, type: !21, unit: !1, spFlags: DISPFlagDefinition, retainedNodes: !22)
!21 = !DISubroutineType(types: !{null, !11})
!22 = !{!23}
!23 = !DILocalVariable(name: "p", arg: 1, scope: !20, file: !2, line: 5, type: !11)
!25 = !{!16}
!30 = distinct !DISubprogram(name: "structs", scope: !2, file: !2, line: 9, type: !21, unit: !1, spFlags: DISPFlagDefinition, retainedNodes: !32)
!32 = !{!33}
!33 = !DILocalVariable(name: "p", arg: 1, scope: !30, file: !2, line: 9, type: !11)
