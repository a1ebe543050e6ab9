; What a file says by the macros of adgen.h: annotations of functions, which leave the module.
;
; RUN: %opt -passes='adgen-user-rules<>' -S %s | %filecheck %s
target triple = "x86_64-pc-linux-gnu"

@inactive = private unnamed_addr constant [15 x i8] c"adgen:inactive\00"
@gradient = private unnamed_addr constant [24 x i8] c"adgen:gradient=slope_of\00"
@other = private unnamed_addr constant [6 x i8] c"other\00"
@llvm.global.annotations = appending global [3 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @level, ptr @inactive, ptr null, i32 1, ptr null }, { ptr, ptr, ptr, i32, ptr } { ptr @steep, ptr @gradient, ptr null, i32 2, ptr null }, { ptr, ptr, ptr, i32, ptr } { ptr @use, ptr @other, ptr null, i32 3, ptr null }], section "llvm.metadata"

; CHECK-NOT: llvm.global.annotations
; CHECK: define double @level(double %x) #[[INACTIVE:[0-9]+]]
; CHECK: define double @use(
; CHECK: call double @adgen_math_user_steep(double %x)
; CHECK: define internal double @adgen_math_user_steep(double %0) {{.*}}!enzyme_gradient
; CHECK: attributes #[[INACTIVE]] = {{.*}}"enzyme_inactive"
define double @level(double %x) {
  ret double %x
}

define double @steep(double %x) {
  ret double %x
}

define void @slope_of(double %x, double %cotangent, ptr %d_x) !dbg !4 {
  store double %cotangent, ptr %d_x
  ret void
}

define double @use(double %x) {
  %a = call double @steep(double %x)
  %b = call double @level(double %a)
  ret double %b
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "f.cpp", directory: "/home/u")
!2 = !DISubroutineType(types: !{})
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "slope_of", scope: !1, file: !1, line: 1, type: !2, spFlags: DISPFlagDefinition, unit: !0)
