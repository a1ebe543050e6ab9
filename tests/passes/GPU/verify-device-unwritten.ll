; Behind which arguments a gradient writes nothing: by no store, by no atomic, and by no pointer that may lead there.
;
; RUN: %opt -passes=adgen-verify-device -disable-output %s 2>&1 | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK: "reads":{{.*}}"unwritten":[0,2]
; CHECK-SAME: "sums":{{.*}}"unwritten":[0]
; CHECK-SAME: "turns":{{.*}}"unwritten":[2]
define ptx_kernel void @reads__gradient(ptr %x, ptr %d_x, ptr %d_y) "adgen-activity"="duplicated" {
  %d = load float, ptr %d_y
  store float %d, ptr %d_x
  ret void
}

define ptx_kernel void @sums__gradient(ptr %x, ptr %d_x, ptr %d_y) "adgen-activity"="duplicated" {
  %d = load float, ptr %d_y
  store float 0.0, ptr %d_y
  %old = atomicrmw fadd ptr %d_x, float %d monotonic
  ret void
}

define ptx_kernel void @turns__gradient(ptr %x, ptr %d_x, ptr %d_y, i1 %which) "adgen-activity"="duplicated" {
  %one = select i1 %which, ptr %x, ptr %d_x
  store float 1.0, ptr %one
  ret void
}
