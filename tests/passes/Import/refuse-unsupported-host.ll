; On the host it is OpenMP's constructs that are refused, also in functions that the body hands over to the runtime. Sums by atomics and
; calls through pointers are fine.
;
; RUN: %opt -passes=adgen-refuse-unsupported -disable-output %s 2>&1 | %filecheck %s --implicit-check-not=adgen-refusal

target triple = "x86_64-pc-linux-gnu"

define void @f(ptr %x, ptr %function) !dbg !10 {
  ret void
}

define void @adgen_body_f(ptr %x, ptr %function) !dbg !20 {
  call void %function(), !dbg !30
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 1, ptr @outlined, ptr %x), !dbg !30
  ret void
}

; CHECK:      adgen-refusal: {"column":0,"entry":"f","file":"/home/u/f.cpp","hint":"{{.*}}","line":11,"reason":"cannot differentiate an OpenMP directive that adgen does not know"}
; CHECK-NEXT: adgen-refusal: {{.*}}"line":12,"reason":"cannot differentiate an OpenMP task that other threads may continue, or an event completes"}
; CHECK-NEXT: adgen-refusal: {{.*}}"line":13,"reason":"cannot differentiate an OpenMP cancellation"}
; CHECK-NEXT: adgen-refusal: {{.*}}"hint":"declare the variable inside{{.*}}"line":14,"reason":"cannot differentiate an OpenMP threadprivate variable"}
; CHECK-NEXT: adgen-refusal: {{.*}}"line":15,"reason":"cannot differentiate an OpenMP single section with copyprivate"}
; CHECK-NEXT: adgen-refusal: {{.*}}"line":16,"reason":"cannot differentiate a variable of which every thread has its own (threadprivate, thread_local)"}
; CHECK-NEXT: adgen-refusal: {{.*}}"line":17,"reason":"cannot differentiate an OpenMP lock that is only tried"}
; CHECK-NEXT: adgen-refusal: {{.*}}"line":18,"reason":"cannot differentiate OpenMP offloading"}
; CHECK-NEXT: adgen-refusal: {{.*}}"line":18,"reason":"cannot differentiate loads and stores of vectors under a mask"}
; CHECK-NEXT: adgen-refusal: {{.*}}"line":18,"reason":"cannot differentiate inline assembly (sqrtsd $1, $0)"}
; CHECK-NEXT: adgen-refusal: {{.*}}"line":19,"reason":"cannot differentiate a compare-and-swap"}
; CHECK-NEXT: adgen-refusal: {{.*}}"line":20,"reason":"cannot differentiate a compare-and-swap"}
define internal void @outlined(ptr %thread, ptr %bound, ptr %x) !dbg !21 {
  call void @__kmpc_something_new(), !dbg !31
  call void @__kmpc_omp_task_alloc(), !dbg !32
  call void @__kmpc_cancel(), !dbg !33
  call void @__kmpc_threadprivate_cached(), !dbg !34
  call void @__kmpc_copyprivate(), !dbg !35
  %own = call ptr @llvm.threadlocal.address.p0(ptr @own), !dbg !36
  call void @omp_test_lock(), !dbg !37
  call void @__tgt_target_kernel(), !dbg !38
  call void @llvm.x86.avx.maskstore.pd.256(ptr %x, <4 x i64> zeroinitializer, <4 x double> zeroinitializer), !dbg !38
  %root = call double asm "sqrtsd $1, $0", "=x,x"(double 1.0), !dbg !38
  call void asm sideeffect "", "~{memory}"(), !dbg !38
  %asked = call { i32, i32 } asm sideeffect "cpuid", "={ax},={bx},0"(i32 1), !dbg !38
  %max = atomicrmw fmax ptr %x, double 1.0 monotonic, !dbg !39
  %swap = cmpxchg ptr %x, i64 0, i64 1 monotonic monotonic, !dbg !40
  %sum = atomicrmw fadd ptr %x, double 1.0 monotonic, !dbg !40
  %count = atomicrmw max ptr %x, i32 1 monotonic, !dbg !40
  call i32 @__kmpc_global_thread_num(), !dbg !40
  ret void
}

; A function of any number of arguments that computes with them; one that hands them on to print them is left alone.
; CHECK-NEXT: adgen-refusal: {{.*}}"line":21,"reason":"cannot differentiate a function with any number of arguments (sum(int, ...))"}
define void @variadic(ptr %x) {
  ret void
}

define void @adgen_body_variadic(ptr %x) !dbg !22 {
  %y = load double, ptr %x
  %s = call double (i32, ...) @_Z3sumiz(i32 1, double %y), !dbg !41
  store double %s, ptr %x
  call void (ptr, ...) @_Z5printPKcz(ptr %x, double %y)
  ret void
}

define internal double @_Z3sumiz(i32 %n, ...) {
  %list = alloca [24 x i8]
  call void @llvm.va_start.p0(ptr %list)
  %y = load double, ptr %list
  ret double %y
}

define internal void @_Z5printPKcz(ptr %format, ...) {
  %list = alloca [24 x i8]
  call void @llvm.va_start.p0(ptr %list)
  %n = call i32 @vprintf(ptr %format, ptr %list)
  ret void
}

; Nor is one that chooses among pointers, which may lead to numbers.
; CHECK-NEXT: adgen-refusal: {{.*}}"line":22,"reason":"cannot differentiate a function with any number of arguments (pick(int, ...))"}
define void @chosen(ptr %x) {
  ret void
}

define void @adgen_body_chosen(ptr %x) !dbg !23 {
  %one = call ptr (i32, ...) @_Z4pickiz(i32 1, ptr %x), !dbg !42
  store double 0.0, ptr %one
  ret void
}

define internal ptr @_Z4pickiz(i32 %n, ...) {
  %list = alloca [24 x i8]
  call void @llvm.va_start.p0(ptr %list)
  %one = load ptr, ptr %list
  ret ptr %one
}

; The text of a number is none.
define void @named(ptr %x) {
  ret void
}

define void @adgen_body_named(ptr %x) {
  %text = alloca [32 x i8]
  %y = load double, ptr %x
  call void (ptr, ptr, ...) @_ZN9__gnu_cxx12__to_xstringIScEET_z(ptr %text, ptr @vprintf, double %y)
  ret void
}

define internal void @_ZN9__gnu_cxx12__to_xstringIScEET_z(ptr %text, ptr %convert, ...) {
  %list = alloca [24 x i8]
  call void @llvm.va_start.p0(ptr %list)
  %own = getelementptr i8, ptr %text, i64 16
  store ptr %own, ptr %text
  %n = call i32 %convert(ptr %own, ptr %list)
  ret void
}

declare i32 @vprintf(ptr, ptr)
declare void @llvm.va_start.p0(ptr)

; Nothing is said about what no body reaches.
define void @elsewhere() {
  call void @__kmpc_omp_task_alloc()
  ret void
}

@own = internal thread_local global double 0.0
declare void @llvm.x86.avx.maskstore.pd.256(ptr, <4 x i64>, <4 x double>)
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare void @__kmpc_something_new()
declare void @__kmpc_omp_task_alloc()
declare void @__kmpc_cancel()
declare void @__kmpc_threadprivate_cached()
declare void @__kmpc_copyprivate()
declare void @omp_test_lock()
declare void @__tgt_target_kernel()
declare i32 @__kmpc_global_thread_num()
declare ptr @llvm.threadlocal.address.p0(ptr)

!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !2, emissionKind: LineTablesOnly)
!2 = !DIFile(filename: "f.cpp", directory: "/home/u")
!3 = !DISubroutineType(types: !{null})
!10 = distinct !DISubprogram(name: "f", scope: !2, file: !2, line: 9, type: !3, unit: !1, spFlags: DISPFlagDefinition)
!20 = distinct !DISubprogram(name: "f", scope: !2, file: !2, line: 9, type: !3, unit: !1, spFlags: DISPFlagDefinition)
!21 = distinct !DISubprogram(name: "f.omp_outlined", scope: !2, file: !2, line: 10, type: !3, unit: !1, spFlags: DISPFlagDefinition)
!22 = distinct !DISubprogram(name: "variadic", scope: !2, file: !2, line: 21, type: !3, unit: !1, spFlags: DISPFlagDefinition)
!23 = distinct !DISubprogram(name: "chosen", scope: !2, file: !2, line: 22, type: !3, unit: !1, spFlags: DISPFlagDefinition)
!30 = !DILocation(line: 10, scope: !20)
!31 = !DILocation(line: 11, scope: !21)
!32 = !DILocation(line: 12, scope: !21)
!33 = !DILocation(line: 13, scope: !21)
!34 = !DILocation(line: 14, scope: !21)
!35 = !DILocation(line: 15, scope: !21)
!36 = !DILocation(line: 16, scope: !21)
!37 = !DILocation(line: 17, scope: !21)
!38 = !DILocation(line: 18, scope: !21)
!39 = !DILocation(line: 19, scope: !21)
!40 = !DILocation(line: 20, scope: !21)
!41 = !DILocation(line: 21, scope: !22)
!42 = !DILocation(line: 22, scope: !23)
