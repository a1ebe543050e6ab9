; What the user says of functions: one that is inactive stays apart; calls of one with a gradient of its own become calls of a rule.
;
; RUN: %opt -passes='adgen-user-rules<ns::noted;steep=gradient>' -S %s | %filecheck %s
; RUN: %opt -passes='adgen-user-rules<absent;steep=ns::noted>' -disable-output %s 2>&1 | %filecheck %s --check-prefix=REFUSED

; REFUSED: adgen-refusal: {{.*}}"entry":""{{.*}}"reason":"there is no function 'absent' in the file, or nothing calls it"
; REFUSED: adgen-refusal: {{.*}}"reason":"'ns::noted' cannot be the gradient of 'steep'"

; CHECK-LABEL: define float @noted(float %x)
; CHECK-SAME:    [[INACTIVE:#[0-9]+]]
define float @noted(float %x) !dbg !6 {
  ret float %x
}

define float @steep(float %x, float %y) !dbg !7 {
  ret float %x
}

define void @gradient(float %x, float %y, float %c, ptr %d_x, ptr %d_y) !dbg !8 {
  ret void
}

; CHECK-LABEL: define ptx_kernel void @kernel(
; CHECK:         [[FIRST:%.*]] = insertelement <2 x float> poison, float %x, i64 0
; CHECK-NEXT:    [[BOTH:%.*]] = insertelement <2 x float> [[FIRST]], float 2.0{{.*}}, i64 1
; CHECK-NEXT:    call float @adgen_math_user_steep(<2 x float> [[BOTH]])
define ptx_kernel void @kernel(float %x, ptr %out) {
  %z = call float @steep(float %x, float 2.0)
  store float %z, ptr %out
  ret void
}

; CHECK:       define internal float @adgen_math_user_steep(<2 x float> %0) [[APART:#[0-9]+]] !enzyme_augment ![[AUGMENT:[0-9]+]] !enzyme_gradient ![[REVERSE:[0-9]+]]
; CHECK:         call float @steep(float {{%.*}}, float {{%.*}})
; CHECK-LABEL: define internal { <2 x float> } @adgen_math_user_steep_reverse(<2 x float> %0, float %1)
; CHECK:         call void @gradient(float {{%.*}}, float {{%.*}}, float %1, ptr {{%.*}}, ptr {{%.*}})
; CHECK:         ret { <2 x float> }
; CHECK-DAG:   attributes [[INACTIVE]] = { noinline "adgen-apart" "enzyme_inactive" }
; CHECK-DAG:   attributes [[APART]] = { noinline nounwind "adgen-apart" }
; CHECK-DAG:   ![[AUGMENT]] = !{ptr @adgen_math_user_steep}
; CHECK-DAG:   ![[REVERSE]] = !{ptr @adgen_math_user_steep_reverse}

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, emissionKind: LineTablesOnly)
!2 = !DIFile(filename: "k.cu", directory: "/home/u")
!3 = !DISubroutineType(types: !{null})
!5 = !DINamespace(name: "ns", scope: null)
!6 = distinct !DISubprogram(name: "noted", scope: !5, file: !2, line: 1, type: !3, unit: !1, spFlags: DISPFlagDefinition)
!7 = distinct !DISubprogram(name: "steep", scope: !2, file: !2, line: 2, type: !3, unit: !1, spFlags: DISPFlagDefinition)
!8 = distinct !DISubprogram(name: "gradient", scope: !2, file: !2, line: 3, type: !3, unit: !1, spFlags: DISPFlagDefinition)
