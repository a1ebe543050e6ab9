; Shared memory that assembly has reached by a number is reached by the array's pointer, in bodies alone. The pointer has
; no space of addresses: what is added through it is handed to rules that take it for an address anywhere.
;
; RUN: %opt -passes=adgen-name-addresses -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_body_stores(
; CHECK:         [[AT:%.*]] = getelementptr i8, ptr %tile, i32 %by
; CHECK:         store float %x, ptr [[AT]]
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

; CHECK-LABEL: define void @adgen_body_vector(
; CHECK:         [[FIRST:%.*]] = getelementptr i8, ptr %tile, i32 %by
; CHECK:         [[SECOND:%.*]] = getelementptr i8, ptr [[FIRST]], i64 4
; CHECK:         load float, ptr [[FIRST]]
; CHECK:         load float, ptr [[SECOND]]
; CHECK:         atomicrmw fadd ptr [[SECOND]], float
define void @adgen_body_vector(ptr %tile, i32 %by) {
  %shared = addrspacecast ptr %tile to ptr addrspace(3)
  %number = ptrtoint ptr addrspace(3) %shared to i32
  %sum = add i32 %number, %by
  %at = inttoptr i32 %sum to ptr addrspace(3)
  %second = getelementptr i8, ptr addrspace(3) %at, i64 4
  %x = load float, ptr addrspace(3) %at
  %y = load float, ptr addrspace(3) %second
  %z = fadd float %x, %y
  %old = atomicrmw fadd ptr addrspace(3) %second, float %z monotonic
  ret void
}

; A pointer of shared memory that is none of assembly's; what takes it as one still gets it.
; CHECK-LABEL: define void @adgen_body_pointer(
; CHECK:         [[SHARED:%.*]] = addrspacecast ptr %tile to ptr addrspace(3)
; CHECK:         store ptr addrspace(3) [[SHARED]], ptr %tile
; CHECK:         call void @take(ptr addrspace(3) [[SHARED]], ptr %tile)
define void @adgen_body_pointer(ptr %tile) {
  %shared = addrspacecast ptr %tile to ptr addrspace(3)
  store ptr addrspace(3) %shared, ptr addrspace(3) %shared
  %again = addrspacecast ptr addrspace(3) %shared to ptr
  call void @take(ptr addrspace(3) %shared, ptr %again)
  ret void
}

declare void @take(ptr addrspace(3), ptr)
