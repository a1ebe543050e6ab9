; Shared memory that assembly has reached by a number is reached by the array's pointer, in bodies alone.
;
; RUN: %opt -passes=adgen-name-addresses -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_body_stores(
; CHECK:         [[AT:%.*]] = getelementptr i8, ptr %tile, i32 %by
; CHECK:         [[SHARED:%.*]] = addrspacecast ptr [[AT]] to ptr addrspace(3)
; CHECK:         store float %x, ptr addrspace(3) [[SHARED]]
define void @adgen_body_stores(ptr %tile, i32 %by, float %x) {
  %shared = addrspacecast ptr %tile to ptr addrspace(3)
  %long = ptrtoint ptr addrspace(3) %shared to i64
  %number = trunc i64 %long to i32
  %sum = add i32 %number, %by
  %at = inttoptr i32 %sum to ptr addrspace(3)
  store float %x, ptr addrspace(3) %at
  ret void
}

; Whose number this is does not show.
; CHECK-LABEL: define void @adgen_body_unknown(
; CHECK:         inttoptr i32 %number to ptr addrspace(3)
define void @adgen_body_unknown(i32 %number, float %x) {
  %at = inttoptr i32 %number to ptr addrspace(3)
  store float %x, ptr addrspace(3) %at
  ret void
}

; CHECK-LABEL: define void @kernel(
; CHECK:         inttoptr
define void @kernel(ptr addrspace(3) %tile, float %x) {
  %number = ptrtoint ptr addrspace(3) %tile to i32
  %at = inttoptr i32 %number to ptr addrspace(3)
  store float %x, ptr addrspace(3) %at
  ret void
}
