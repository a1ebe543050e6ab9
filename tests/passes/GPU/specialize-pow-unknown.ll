; Of what is computed first, the answer to ordinary arguments is not known without a question: nothing is done.
;
; RUN: %opt -passes=adgen-specialize-pow,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define float @__nv_powf(
; CHECK-NOT:     2139095039
; CHECK:         ret float
define float @__nv_powf(float %x, float %y) {
entry:
  %one = call float @llvm.exp2.f32(float %x)
  %other = call float @llvm.exp2.f32(float %y)
  %less = fcmp olt float %x, %y
  br i1 %less, label %end, label %more

more:
  call void @rounds()
  br label %end

end:
  %answer = phi float [ %one, %entry ], [ %other, %more ]
  ret float %answer
}

declare void @rounds()
declare float @llvm.exp2.f32(float)
