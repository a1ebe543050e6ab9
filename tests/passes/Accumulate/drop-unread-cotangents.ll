; What is written to a shared shadow where nothing of use is read is left out; members are told apart by what all indices are multiplied by.
;
; RUN: %opt -passes='adgen-drop-unread-cotangents,function(adce)' -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; The first member comes to d_x, the second to nothing, by way of another tile.
; CHECK-LABEL: define void @pairs(
; CHECK-NEXT:    %x = getelementptr [2 x float], ptr %d_tile, i64 %i
; CHECK-NEXT:    atomicrmw fadd ptr %x, float %v monotonic
; CHECK-NEXT:    %taken = atomicrmw xchg ptr %x, float 0.000000e+00 monotonic
; CHECK-NEXT:    %to = getelementptr float, ptr %d_x, i64 %i
; CHECK-NEXT:    atomicrmw fadd ptr %to, float %taken monotonic
; CHECK-NEXT:    ret void
define void @pairs(float %v, i64 %i, ptr "adgen-shadow" %d_x, ptr "adgen-shared-shadow" %d_tile, ptr "adgen-shared-shadow" %d_other) "adgen-activity"="const:const:duplicated" {
  %x = getelementptr [2 x float], ptr %d_tile, i64 %i
  %y = getelementptr i8, ptr %x, i64 4
  %other = getelementptr float, ptr %d_other, i64 %i
  %1 = atomicrmw fadd ptr %x, float %v monotonic
  %2 = atomicrmw fadd ptr %other, float %v monotonic
  %moved = atomicrmw xchg ptr %other, float 0.0 monotonic
  %3 = atomicrmw fadd ptr %y, float %moved monotonic
  %unused = load float, ptr %y
  store float 0.0, ptr %y
  %taken = atomicrmw xchg ptr %x, float 0.0 monotonic
  %to = getelementptr float, ptr %d_x, i64 %i
  %4 = atomicrmw fadd ptr %to, float %taken monotonic
  ret void
}

; An index that 32 bits may not be enough for, or that is multiplied by a number of bytes that does not tell members apart: any element may be
; meant. Of a shadow whose pointer goes elsewhere nothing is known.
; CHECK-LABEL: define void @any_element(
; CHECK-COUNT-2: atomicrmw fadd
; CHECK-LABEL: define void @escapes(
; CHECK:         atomicrmw fadd
define float @use(ptr %p) {
  ret float 0.0
}
define void @any_element(float %v, i32 %i, ptr "adgen-shadow" %d_x, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const:const:duplicated" {
  %twice = mul i32 %i, 3
  %wide = sext i32 %twice to i64
  %a = getelementptr float, ptr %d_tile, i64 %wide
  %b = getelementptr i8, ptr %a, i64 4
  %1 = atomicrmw fadd ptr %a, float %v monotonic
  %taken = load float, ptr %b
  %2 = atomicrmw fadd ptr %d_x, float %taken monotonic
  ret void
}
define void @escapes(float %v, ptr "adgen-shadow" %d_x, ptr "adgen-shared-shadow" %d_tile) "adgen-activity"="const:duplicated" {
  %1 = atomicrmw fadd ptr %d_tile, float %v monotonic
  %2 = call float @use(ptr %d_tile)
  ret void
}

; What is written to the shared array itself led to a result that is not asked for, and the reverse sweep needs none of it.
; CHECK-LABEL: define void @partial_sums(
; CHECK-NEXT:    call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
; CHECK-NEXT:    %sum = getelementptr
; CHECK-NEXT:    %taken = atomicrmw xchg ptr %sum, float 0.000000e+00 monotonic
; CHECK-NEXT:    %to = getelementptr
; CHECK-NEXT:    atomicrmw fadd ptr %to, float %taken monotonic
; CHECK-NEXT:    ret void
define void @partial_sums(ptr %x, i64 %i, ptr "adgen-shadow" %d_x, ptr %parts, ptr "adgen-shared-shadow"="static" %d_parts) "adgen-activity"="duplicated:const" "adgen-shared"="parts" {
  %from = getelementptr float, ptr %x, i64 %i
  %v = load float, ptr %from
  %part = getelementptr float, ptr %parts, i64 %i
  store float %v, ptr %part
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %other = getelementptr i8, ptr %part, i64 64
  %beside = load float, ptr %other
  %both = fadd float %v, %beside
  store float %both, ptr %part
  %sum = getelementptr float, ptr %d_parts, i64 %i
  %taken = atomicrmw xchg ptr %sum, float 0.0 monotonic
  %to = getelementptr float, ptr %d_x, i64 %i
  %1 = atomicrmw fadd ptr %to, float %taken monotonic
  ret void
}

; Not where a derivative is made of it, nor where the array may be part of another one.
; CHECK-LABEL: define void @products(
; CHECK:         store float %v, ptr %part
; CHECK-LABEL: define void @of_the_launch(
; CHECK:         store float %v, ptr %part
define void @products(ptr %x, i64 %i, ptr "adgen-shadow" %d_x, ptr %parts, ptr "adgen-shared-shadow"="static" %d_parts) "adgen-activity"="duplicated:const" "adgen-shared"="parts" {
  %v = load float, ptr %x
  %part = getelementptr float, ptr %parts, i64 %i
  store float %v, ptr %part
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %other = getelementptr i8, ptr %part, i64 64
  %beside = load float, ptr %other
  %sum = getelementptr float, ptr %d_parts, i64 %i
  %taken = atomicrmw xchg ptr %sum, float 0.0 monotonic
  %product = fmul float %taken, %beside
  %1 = atomicrmw fadd ptr %d_x, float %product monotonic
  ret void
}
define void @of_the_launch(ptr %x, i64 %i, ptr "adgen-shadow" %d_x, ptr %parts, ptr "adgen-shared-shadow" %d_parts) "adgen-activity"="duplicated:const" "adgen-shared"="parts" {
  %v = load float, ptr %x
  %part = getelementptr float, ptr %parts, i64 %i
  store float %v, ptr %part
  ret void
}
