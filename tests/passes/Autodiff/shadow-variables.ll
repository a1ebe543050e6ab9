; A device variable with a derivative gets a shadow that the runtime reaches by its name, and Enzyme by metadata. It lies in global memory, as
; its shadow does, also where it was __constant__, which is noted; what was there to read it goes on doing so.
;
; RUN: %opt -passes='adgen-shadow-variables<table;gain>' -S %s | %filecheck %s
; RUN: %not --crash %opt -passes='adgen-shadow-variables<absent>' -S %s 2>&1 | %filecheck %s --check-prefix=ABSENT

; ABSENT: adgen-shadow-variables: no variable absent

target triple = "nvptx64-nvidia-cuda"

; CHECK-DAG: @table = addrspace(1) externally_initialized global [2 x float] zeroinitializer, align 4, !adgen.constant !{{[0-9]+}}, !enzyme_shadow [[TABLE:![0-9]+]]
; CHECK-DAG: @adgen_shadow_table = addrspace(1) externally_initialized global [2 x float] zeroinitializer, align 4
; CHECK-DAG: @gain = addrspace(1) externally_initialized global float 2.0{{.*}}, align 4, !enzyme_shadow [[GAIN:![0-9]+]]
; CHECK-DAG: @adgen_shadow_gain = addrspace(1) externally_initialized global float 0.0{{.*}}, align 4
; CHECK-DAG: @other = addrspace(4) externally_initialized constant float 0.0{{.*}}, align 4{{$}}
@table = addrspace(4) externally_initialized constant [2 x float] zeroinitializer, align 4
@gain = addrspace(1) externally_initialized global float 2.0, align 4
@other = addrspace(4) externally_initialized constant float 0.0, align 4
@llvm.compiler.used = appending global [1 x ptr] [ptr addrspacecast (ptr addrspace(4) @table to ptr)], section "llvm.metadata"

; CHECK-LABEL: @f(
; CHECK: getelementptr [2 x float], ptr addrspacecast (ptr addrspace(1) @table to ptr), i64 0, i64 %i
; CHECK: load float, ptr addrspacecast (ptr addrspace(1) @table to ptr)
define float @f(i64 %i) {
  %p = getelementptr [2 x float], ptr addrspacecast (ptr addrspace(4) @table to ptr), i64 0, i64 %i
  %a = load float, ptr %p
  %b = load float, ptr addrspace(4) @table
  %c = fadd float %a, %b
  ret float %c
}

; CHECK-DAG: [[TABLE]] = !{ptr addrspace(1) @adgen_shadow_table}
; CHECK-DAG: [[GAIN]] = !{ptr addrspace(1) @adgen_shadow_gain}
