; A positive finite base and a finite exponent get what powf computes before it asks for special arguments.
;
; RUN: %opt -passes=adgen-specialize-pow,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define float @__nv_powf(
; CHECK:         [[POWER:%.*]] = call float @llvm.exp2.f32
; CHECK:         [[BITS:%.*]] = bitcast float %x to i32
; CHECK-NEXT:    [[LESS:%.*]] = sub i32 [[BITS]], 1
; CHECK-NEXT:    [[POSITIVE:%.*]] = icmp ult i32 [[LESS]], 2139095039
; CHECK-NEXT:    [[SIZE:%.*]] = call float @llvm.fabs.f32(float %y)
; CHECK-NEXT:    [[FINITE:%.*]] = fcmp olt float [[SIZE]], 0x7FF0000000000000
; CHECK-NEXT:    [[ORDINARY:%.*]] = and i1 [[POSITIVE]], [[FINITE]]
; CHECK-NEXT:    br i1 [[ORDINARY]], label %[[END:.*]], label %[[QUESTIONS:.*]], !prof
; CHECK:       [[QUESTIONS]]:
; CHECK:         fcmp
; CHECK:       [[END]]:
; CHECK-NEXT:    phi float {{.*}}[ [[POWER]], %entry ]
define float @__nv_powf(float %x, float %y) {
entry:
  %size = call float @llvm.fabs.f32(float %x)
  %log = call float @llvm.log2.f32(float %size)
  %product = fmul float %log, %y
  %power = call float @llvm.exp2.f32(float %product)
  %one = fcmp oeq float %x, 1.0
  br i1 %one, label %end, label %more

more:
  %nan = fcmp uno float %x, %y
  br i1 %nan, label %unknown, label %signs

unknown:
  %sum = call float @llvm.nvvm.add.rn.f(float %x, float %y)
  call void @rounds()
  br label %end

signs:
  %negative = fcmp olt float %x, 0.0
  br i1 %negative, label %turned, label %end

turned:
  %whole = call float @llvm.floor.f32(float %y)
  call void @rounds()
  br label %end

end:
  %answer = phi float [ 1.0, %entry ], [ %sum, %unknown ], [ %whole, %turned ], [ %power, %signs ]
  ret float %answer
}

declare void @rounds()
declare float @llvm.fabs.f32(float)
declare float @llvm.log2.f32(float)
declare float @llvm.exp2.f32(float)
declare float @llvm.floor.f32(float)
declare float @llvm.nvvm.add.rn.f(float, float)
