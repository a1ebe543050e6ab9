; No debug information goes into a binary: it would name files of the machine that compiled.
;
; RUN: %opt -passes=adgen-strip-debug -S %s | %filecheck %s --implicit-check-not=DI --implicit-check-not=/where/it/was

; CHECK: define void @f(ptr %x) {
; CHECK-NEXT:   store float 1.0{{.*}}, ptr %x, align 4{{$}}
; CHECK-NEXT:   ret void{{$}}
define void @f(ptr %x) !dbg !4 {
    #dbg_value(ptr %x, !6, !DIExpression(), !5)
  store float 1.0, ptr %x, !dbg !5
  ret void, !dbg !5
}

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, emissionKind: FullDebug)
!2 = !DIFile(filename: "f.cpp", directory: "/where/it/was")
!3 = !DISubroutineType(types: !{null})
!4 = distinct !DISubprogram(name: "f", scope: !2, file: !2, line: 1, type: !3, unit: !1, spFlags: DISPFlagDefinition)
!5 = !DILocation(line: 2, scope: !4)
!6 = !DILocalVariable(name: "x", arg: 1, scope: !4, file: !2, line: 1)
