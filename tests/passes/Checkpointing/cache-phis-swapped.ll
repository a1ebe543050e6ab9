; Of two numbers that are swapped forty times, or not, as an unrolled sort does, each comes from 2^40 ways. Whether a loop
; has left one of them is asked of each number once.
;
; RUN: %opt -passes=adgen-cache-phis -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define float @adgen_body_sorts(
; CHECK:         call float @adgen_hold_ieee32(float %chosen
define float @adgen_body_sorts(float %p0, float %q0, ptr %flags) {
entry:
  br label %s1

s1:
  %f1 = load volatile i1, ptr %flags
  br i1 %f1, label %t1, label %s2
t1:
  br label %s2

s2:
  %p1 = phi float [ %p0, %s1 ], [ %q0, %t1 ]
  %q1 = phi float [ %q0, %s1 ], [ %p0, %t1 ]
  %f2 = load volatile i1, ptr %flags
  br i1 %f2, label %t2, label %s3
t2:
  br label %s3

s3:
  %p2 = phi float [ %p1, %s2 ], [ %q1, %t2 ]
  %q2 = phi float [ %q1, %s2 ], [ %p1, %t2 ]
  %f3 = load volatile i1, ptr %flags
  br i1 %f3, label %t3, label %s4
t3:
  br label %s4

s4:
  %p3 = phi float [ %p2, %s3 ], [ %q2, %t3 ]
  %q3 = phi float [ %q2, %s3 ], [ %p2, %t3 ]
  %f4 = load volatile i1, ptr %flags
  br i1 %f4, label %t4, label %s5
t4:
  br label %s5

s5:
  %p4 = phi float [ %p3, %s4 ], [ %q3, %t4 ]
  %q4 = phi float [ %q3, %s4 ], [ %p3, %t4 ]
  %f5 = load volatile i1, ptr %flags
  br i1 %f5, label %t5, label %s6
t5:
  br label %s6

s6:
  %p5 = phi float [ %p4, %s5 ], [ %q4, %t5 ]
  %q5 = phi float [ %q4, %s5 ], [ %p4, %t5 ]
  %f6 = load volatile i1, ptr %flags
  br i1 %f6, label %t6, label %s7
t6:
  br label %s7

s7:
  %p6 = phi float [ %p5, %s6 ], [ %q5, %t6 ]
  %q6 = phi float [ %q5, %s6 ], [ %p5, %t6 ]
  %f7 = load volatile i1, ptr %flags
  br i1 %f7, label %t7, label %s8
t7:
  br label %s8

s8:
  %p7 = phi float [ %p6, %s7 ], [ %q6, %t7 ]
  %q7 = phi float [ %q6, %s7 ], [ %p6, %t7 ]
  %f8 = load volatile i1, ptr %flags
  br i1 %f8, label %t8, label %s9
t8:
  br label %s9

s9:
  %p8 = phi float [ %p7, %s8 ], [ %q7, %t8 ]
  %q8 = phi float [ %q7, %s8 ], [ %p7, %t8 ]
  %f9 = load volatile i1, ptr %flags
  br i1 %f9, label %t9, label %s10
t9:
  br label %s10

s10:
  %p9 = phi float [ %p8, %s9 ], [ %q8, %t9 ]
  %q9 = phi float [ %q8, %s9 ], [ %p8, %t9 ]
  %f10 = load volatile i1, ptr %flags
  br i1 %f10, label %t10, label %s11
t10:
  br label %s11

s11:
  %p10 = phi float [ %p9, %s10 ], [ %q9, %t10 ]
  %q10 = phi float [ %q9, %s10 ], [ %p9, %t10 ]
  %f11 = load volatile i1, ptr %flags
  br i1 %f11, label %t11, label %s12
t11:
  br label %s12

s12:
  %p11 = phi float [ %p10, %s11 ], [ %q10, %t11 ]
  %q11 = phi float [ %q10, %s11 ], [ %p10, %t11 ]
  %f12 = load volatile i1, ptr %flags
  br i1 %f12, label %t12, label %s13
t12:
  br label %s13

s13:
  %p12 = phi float [ %p11, %s12 ], [ %q11, %t12 ]
  %q12 = phi float [ %q11, %s12 ], [ %p11, %t12 ]
  %f13 = load volatile i1, ptr %flags
  br i1 %f13, label %t13, label %s14
t13:
  br label %s14

s14:
  %p13 = phi float [ %p12, %s13 ], [ %q12, %t13 ]
  %q13 = phi float [ %q12, %s13 ], [ %p12, %t13 ]
  %f14 = load volatile i1, ptr %flags
  br i1 %f14, label %t14, label %s15
t14:
  br label %s15

s15:
  %p14 = phi float [ %p13, %s14 ], [ %q13, %t14 ]
  %q14 = phi float [ %q13, %s14 ], [ %p13, %t14 ]
  %f15 = load volatile i1, ptr %flags
  br i1 %f15, label %t15, label %s16
t15:
  br label %s16

s16:
  %p15 = phi float [ %p14, %s15 ], [ %q14, %t15 ]
  %q15 = phi float [ %q14, %s15 ], [ %p14, %t15 ]
  %f16 = load volatile i1, ptr %flags
  br i1 %f16, label %t16, label %s17
t16:
  br label %s17

s17:
  %p16 = phi float [ %p15, %s16 ], [ %q15, %t16 ]
  %q16 = phi float [ %q15, %s16 ], [ %p15, %t16 ]
  %f17 = load volatile i1, ptr %flags
  br i1 %f17, label %t17, label %s18
t17:
  br label %s18

s18:
  %p17 = phi float [ %p16, %s17 ], [ %q16, %t17 ]
  %q17 = phi float [ %q16, %s17 ], [ %p16, %t17 ]
  %f18 = load volatile i1, ptr %flags
  br i1 %f18, label %t18, label %s19
t18:
  br label %s19

s19:
  %p18 = phi float [ %p17, %s18 ], [ %q17, %t18 ]
  %q18 = phi float [ %q17, %s18 ], [ %p17, %t18 ]
  %f19 = load volatile i1, ptr %flags
  br i1 %f19, label %t19, label %s20
t19:
  br label %s20

s20:
  %p19 = phi float [ %p18, %s19 ], [ %q18, %t19 ]
  %q19 = phi float [ %q18, %s19 ], [ %p18, %t19 ]
  %f20 = load volatile i1, ptr %flags
  br i1 %f20, label %t20, label %s21
t20:
  br label %s21

s21:
  %p20 = phi float [ %p19, %s20 ], [ %q19, %t20 ]
  %q20 = phi float [ %q19, %s20 ], [ %p19, %t20 ]
  %f21 = load volatile i1, ptr %flags
  br i1 %f21, label %t21, label %s22
t21:
  br label %s22

s22:
  %p21 = phi float [ %p20, %s21 ], [ %q20, %t21 ]
  %q21 = phi float [ %q20, %s21 ], [ %p20, %t21 ]
  %f22 = load volatile i1, ptr %flags
  br i1 %f22, label %t22, label %s23
t22:
  br label %s23

s23:
  %p22 = phi float [ %p21, %s22 ], [ %q21, %t22 ]
  %q22 = phi float [ %q21, %s22 ], [ %p21, %t22 ]
  %f23 = load volatile i1, ptr %flags
  br i1 %f23, label %t23, label %s24
t23:
  br label %s24

s24:
  %p23 = phi float [ %p22, %s23 ], [ %q22, %t23 ]
  %q23 = phi float [ %q22, %s23 ], [ %p22, %t23 ]
  %f24 = load volatile i1, ptr %flags
  br i1 %f24, label %t24, label %s25
t24:
  br label %s25

s25:
  %p24 = phi float [ %p23, %s24 ], [ %q23, %t24 ]
  %q24 = phi float [ %q23, %s24 ], [ %p23, %t24 ]
  %f25 = load volatile i1, ptr %flags
  br i1 %f25, label %t25, label %s26
t25:
  br label %s26

s26:
  %p25 = phi float [ %p24, %s25 ], [ %q24, %t25 ]
  %q25 = phi float [ %q24, %s25 ], [ %p24, %t25 ]
  %f26 = load volatile i1, ptr %flags
  br i1 %f26, label %t26, label %s27
t26:
  br label %s27

s27:
  %p26 = phi float [ %p25, %s26 ], [ %q25, %t26 ]
  %q26 = phi float [ %q25, %s26 ], [ %p25, %t26 ]
  %f27 = load volatile i1, ptr %flags
  br i1 %f27, label %t27, label %s28
t27:
  br label %s28

s28:
  %p27 = phi float [ %p26, %s27 ], [ %q26, %t27 ]
  %q27 = phi float [ %q26, %s27 ], [ %p26, %t27 ]
  %f28 = load volatile i1, ptr %flags
  br i1 %f28, label %t28, label %s29
t28:
  br label %s29

s29:
  %p28 = phi float [ %p27, %s28 ], [ %q27, %t28 ]
  %q28 = phi float [ %q27, %s28 ], [ %p27, %t28 ]
  %f29 = load volatile i1, ptr %flags
  br i1 %f29, label %t29, label %s30
t29:
  br label %s30

s30:
  %p29 = phi float [ %p28, %s29 ], [ %q28, %t29 ]
  %q29 = phi float [ %q28, %s29 ], [ %p28, %t29 ]
  %f30 = load volatile i1, ptr %flags
  br i1 %f30, label %t30, label %s31
t30:
  br label %s31

s31:
  %p30 = phi float [ %p29, %s30 ], [ %q29, %t30 ]
  %q30 = phi float [ %q29, %s30 ], [ %p29, %t30 ]
  %f31 = load volatile i1, ptr %flags
  br i1 %f31, label %t31, label %s32
t31:
  br label %s32

s32:
  %p31 = phi float [ %p30, %s31 ], [ %q30, %t31 ]
  %q31 = phi float [ %q30, %s31 ], [ %p30, %t31 ]
  %f32 = load volatile i1, ptr %flags
  br i1 %f32, label %t32, label %s33
t32:
  br label %s33

s33:
  %p32 = phi float [ %p31, %s32 ], [ %q31, %t32 ]
  %q32 = phi float [ %q31, %s32 ], [ %p31, %t32 ]
  %f33 = load volatile i1, ptr %flags
  br i1 %f33, label %t33, label %s34
t33:
  br label %s34

s34:
  %p33 = phi float [ %p32, %s33 ], [ %q32, %t33 ]
  %q33 = phi float [ %q32, %s33 ], [ %p32, %t33 ]
  %f34 = load volatile i1, ptr %flags
  br i1 %f34, label %t34, label %s35
t34:
  br label %s35

s35:
  %p34 = phi float [ %p33, %s34 ], [ %q33, %t34 ]
  %q34 = phi float [ %q33, %s34 ], [ %p33, %t34 ]
  %f35 = load volatile i1, ptr %flags
  br i1 %f35, label %t35, label %s36
t35:
  br label %s36

s36:
  %p35 = phi float [ %p34, %s35 ], [ %q34, %t35 ]
  %q35 = phi float [ %q34, %s35 ], [ %p34, %t35 ]
  %f36 = load volatile i1, ptr %flags
  br i1 %f36, label %t36, label %s37
t36:
  br label %s37

s37:
  %p36 = phi float [ %p35, %s36 ], [ %q35, %t36 ]
  %q36 = phi float [ %q35, %s36 ], [ %p35, %t36 ]
  %f37 = load volatile i1, ptr %flags
  br i1 %f37, label %t37, label %s38
t37:
  br label %s38

s38:
  %p37 = phi float [ %p36, %s37 ], [ %q36, %t37 ]
  %q37 = phi float [ %q36, %s37 ], [ %p36, %t37 ]
  %f38 = load volatile i1, ptr %flags
  br i1 %f38, label %t38, label %s39
t38:
  br label %s39

s39:
  %p38 = phi float [ %p37, %s38 ], [ %q37, %t38 ]
  %q38 = phi float [ %q37, %s38 ], [ %p37, %t38 ]
  %f39 = load volatile i1, ptr %flags
  br i1 %f39, label %t39, label %s40
t39:
  br label %s40

s40:
  %p39 = phi float [ %p38, %s39 ], [ %q38, %t39 ]
  %q39 = phi float [ %q38, %s39 ], [ %p38, %t39 ]
  %f40 = load volatile i1, ptr %flags
  br i1 %f40, label %t40, label %s41
t40:
  br label %s41

s41:
  %p40 = phi float [ %p39, %s40 ], [ %q39, %t40 ]
  %q40 = phi float [ %q39, %s40 ], [ %p39, %t40 ]
  %side = load volatile i1, ptr %flags
  br i1 %side, label %within, label %out
within:
  %which = load volatile i1, ptr %flags
  br i1 %which, label %one, label %both
one:
  br label %both
both:
  %taken = phi float [ %p40, %within ], [ %q40, %one ]
  br label %out
out:
  %chosen = phi float [ %p40, %s41 ], [ %taken, %both ]
  %square = fmul float %chosen, %chosen
  ret float %square
}
