; A parameter of type void * points to the one type of number that the function takes it for; where that is not clear it stays void.
;
; RUN: %opt -passes=adgen-describe -disable-output %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK:      "name": "taken",
; CHECK:        "name": "data",
; CHECK:          "pointee": {
; CHECK-NEXT:       "kind": "float",
; CHECK-NEXT:       "name": "float",
; CHECK-NEXT:       "size": 8
; CHECK:        "name": "mixed",
; CHECK:          "pointee": {
; CHECK-NEXT:       "kind": "void",
define ptx_kernel void @taken(ptr %data, ptr %mixed) !dbg !20 {
  %data.addr = alloca ptr
  store ptr %data, ptr %data.addr
  %loaded = load ptr, ptr %data.addr
  call void @doubled(ptr %loaded)
  %integer = load i32, ptr %mixed
  %number = load float, ptr %mixed
  ret void
}

define internal void @doubled(ptr %numbers) {
  %at = getelementptr double, ptr %numbers, i64 1
  %number = load double, ptr %at
  ret void
}

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, emissionKind: FullDebug)
!2 = !DIFile(filename: "k.cu", directory: "/home/u")
!10 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: null, size: 64)
!20 = distinct !DISubprogram(name: "taken", scope: !2, file: !2, line: 5, type: !21, unit: !1, spFlags: DISPFlagDefinition, retainedNodes: !22)
!21 = !DISubroutineType(types: !{null, !10, !10})
!22 = !{!23, !24}
!23 = !DILocalVariable(name: "data", arg: 1, scope: !20, file: !2, line: 5, type: !10)
!24 = !DILocalVariable(name: "mixed", arg: 2, scope: !20, file: !2, line: 5, type: !10)
