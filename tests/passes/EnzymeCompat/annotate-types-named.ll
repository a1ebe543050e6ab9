; What the standard library's function copies is told by its name, where nothing else says so: not that of a user's
; function, nor where the types differ.
;
; RUN: %opt -passes='adgen-annotate-types' -S %s | %filecheck %s

target triple = "x86_64-pc-linux-gnu"

; CHECK: call void @llvm.memmove.p0.p0.i64(ptr align 8 "enzyme_type"="{[-1]:Pointer, [-1,-1]:Float@double}" %to, ptr align 8 "enzyme_type"="{[-1]:Pointer, [-1,-1]:Float@double}" %from, i64 %n, i1 false)
; CHECK: call void @llvm.memmove.p0.p0.i64(ptr align 8 "enzyme_type"="{[-1]:Pointer, [-1,-1]:Float@float}" %to, ptr align 8 "enzyme_type"="{[-1]:Pointer, [-1,-1]:Float@float}" %from, i64 %n, i1 false)
; CHECK: call void @llvm.memmove.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 %n, i1 false)
; CHECK: call void @llvm.memmove.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 %n, i1 false)
; CHECK: call void @llvm.memmove.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 %n, i1 false)
define void @rows(ptr %matrix, i64 %n) !dbg !3 {
  %second = getelementptr ptr, ptr %matrix, i64 %n
  %from = load ptr, ptr %matrix
  %to = load ptr, ptr %second
  call void @llvm.memmove.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 %n, i1 false), !dbg !10
  call void @llvm.memmove.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 %n, i1 false), !dbg !11
  call void @llvm.memmove.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 %n, i1 false), !dbg !12
  call void @llvm.memmove.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 %n, i1 false), !dbg !13
  call void @llvm.memmove.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 %n, i1 false), !dbg !14
  ret void
}

declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "rows.cpp", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = distinct !DISubprogram(name: "rows", scope: !1, file: !1, type: !9, unit: !0, spFlags: DISPFlagDefinition)
!4 = distinct !DISubprogram(name: "__copy_m<double>", scope: !1, file: !1, type: !9, unit: !0, spFlags: DISPFlagDefinition)
!5 = distinct !DISubprogram(name: "__copy_move_b<const float, float>", scope: !1, file: !1, type: !9, unit: !0, spFlags: DISPFlagDefinition)
!6 = distinct !DISubprogram(name: "copy<double>", scope: !1, file: !1, type: !9, unit: !0, spFlags: DISPFlagDefinition)
!7 = distinct !DISubprogram(name: "__copy_m<int>", scope: !1, file: !1, type: !9, unit: !0, spFlags: DISPFlagDefinition)
!8 = distinct !DISubprogram(name: "__copy_m<float, double>", scope: !1, file: !1, type: !9, unit: !0, spFlags: DISPFlagDefinition)
!9 = !DISubroutineType(types: !{})
!10 = !DILocation(line: 1, scope: !4, inlinedAt: !15)
!11 = !DILocation(line: 1, scope: !5, inlinedAt: !15)
!12 = !DILocation(line: 1, scope: !6, inlinedAt: !15)
!13 = !DILocation(line: 1, scope: !7, inlinedAt: !15)
!14 = !DILocation(line: 1, scope: !8, inlinedAt: !15)
!15 = distinct !DILocation(line: 2, scope: !3)
