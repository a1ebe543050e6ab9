; No constant expression over a global of an address space is left: Enzyme loses its way in them, whereas it follows instructions.
;
; RUN: %opt -passes=adgen-expand-constant-exprs -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

@table = internal addrspace(4) constant [4 x float] [float 1.0, float 2.0, float 3.0, float 4.0]
@tile = internal addrspace(3) global [4 x float] undef
@plain = internal global [4 x float] undef

; CHECK-LABEL: @f(
; CHECK-NEXT: [[TABLE:%.*]] = addrspacecast ptr addrspace(4) @table to ptr
; CHECK-NEXT: [[SECOND:%.*]] = getelementptr i8, ptr [[TABLE]], i64 4
; CHECK-NEXT: %a = load float, ptr [[SECOND]]
; CHECK-NEXT: [[TILE:%.*]] = addrspacecast ptr addrspace(3) @tile to ptr
; CHECK-NEXT: store float %a, ptr [[TILE]]
; Globals of the generic space may stay as they are.
; CHECK-NEXT: store float %a, ptr getelementptr (i8, ptr @plain, i64 4)
define void @f() {
  %a = load float, ptr getelementptr (i8, ptr addrspacecast (ptr addrspace(4) @table to ptr), i64 4)
  store float %a, ptr addrspacecast (ptr addrspace(3) @tile to ptr)
  store float %a, ptr getelementptr (i8, ptr @plain, i64 4)
  ret void
}
