; Tangents along several directions lie beside each other: what Enzyme has made for one direction, with a vector in place of each tangent, and
; memory that is so many times larger in place of each shadow. What has no such form is taken one direction after another.
;
; RUN: %opt -passes='adgen-interleave-directions<2>' -S %s 2>/dev/null | %filecheck %s --implicit-check-not=@adgen_directions_static --implicit-check-not=@adgen_directions_leaves --implicit-check-not=@adgen_directions_large --implicit-check-not=@adgen_directions_mixes
; RUN: %opt -passes='adgen-interleave-directions<2>' -disable-output %s 2>&1 | %filecheck %s --check-prefix=REFUSED --implicit-check-not=adgen-refusal
; RUN: %not --crash %opt -passes='adgen-interleave-directions<1>' -S %s 2>&1 | %filecheck %s --check-prefix=ONE

; ONE: adgen-interleave-directions: the option is how many directions, 2 or more

@numbers = global double 0.0, !enzyme_shadow !0
@numbers_shadow = global double 0.0

declare ptr @malloc(i64)
declare void @free(ptr)
declare void @unknown(ptr)
declare i32 @__gxx_personality_v0(...)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare double @llvm.fma.f64(double, double, double)

define void @adgen_tangent_scales(ptr %x, double %by, ptr %y, ptr %d_x, ptr %d_by, ptr %d_y) "adgen-tangent-activity"="duplicated:active:duplicated" {
  %by.tangent = load double, ptr %d_by
  call void @fwddiffescales(ptr %x, ptr %d_x, double %by, double %by.tangent, ptr %y, ptr %d_y)
  ret void
}

define internal void @fwddiffescales(ptr %x, ptr %"x'", double %by, double %"by'", ptr %y, ptr %"y'") {
  %there = getelementptr { double, double }, ptr %x, i64 1, i32 1
  %"there'ipg" = getelementptr { double, double }, ptr %"x'", i64 1, i32 1
  %dv = load double, ptr %"there'ipg", align 8
  %has = icmp ne ptr %there, %"there'ipg"
  %tangent = select i1 %has, double %dv, double 0.0
  %v = load double, ptr %there, align 8
  %1 = fmul fast double %tangent, %by
  %sum = call double @llvm.fma.f64(double %"by'", double %v, double %1)
  %product = fmul double %v, %by
  store double %sum, ptr %"y'", align 8
  store double %product, ptr %y, align 8
  ret void
}

; Memory of the function's own: a struct that leads to numbers, each with its shadow, and numbers that have none.
define void @adgen_tangent_own(ptr %x, i64 %n, ptr %d_x) "adgen-tangent-activity"="duplicated:const" {
  call void @fwddiffeown(ptr %x, ptr %d_x, i64 %n)
  ret void
}

define internal void @fwddiffeown(ptr %x, ptr %"x'", i64 %n) {
  %s = alloca { ptr, i32 }, align 8
  %ds = alloca { ptr, i32 }, align 8
  %bytes = shl i64 %n, 3
  %p = call ptr @malloc(i64 %bytes)
  %dp = call ptr @malloc(i64 %bytes)
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %x, i64 %bytes, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %dp, ptr %"x'", i64 %bytes, i1 false)
  store ptr %p, ptr %s
  store ptr %dp, ptr %ds
  %count = getelementptr { ptr, i32 }, ptr %s, i64 0, i32 1
  %dcount = getelementptr { ptr, i32 }, ptr %ds, i64 0, i32 1
  store i32 7, ptr %count
  store i32 7, ptr %dcount
  call void @fwddiffereads(ptr %s, ptr %ds, ptr %x, ptr %"x'")
  %kept = call ptr @malloc(i64 8)
  store double 3.0, ptr %kept
  store ptr %kept, ptr %s
  store ptr %kept, ptr %ds
  call void @fwddiffereads(ptr %s, ptr %ds, ptr %x, ptr %"x'")
  %differs = icmp ne ptr %p, %dp
  br i1 %differs, label %release, label %done

release:
  call void @free(ptr %dp)
  br label %done

done:
  call void @free(ptr %p)
  ret void
}

define internal void @fwddiffereads(ptr %s, ptr %"s'", ptr %x, ptr %"x'") {
  %"p'ipl" = load ptr, ptr %"s'"
  %p = load ptr, ptr %s
  %"v'" = load double, ptr %"p'ipl"
  %v = load double, ptr %p
  %old = atomicrmw fadd ptr %"x'", double %"v'" monotonic, align 8
  store double %v, ptr %x
  ret void
}

; What a function returns and its tangent; a rule of ours takes its arguments and their tangents as vectors.
define void @adgen_tangent_returns(ptr %x, ptr %d_x, ptr %result) "adgen-tangent-activity"="duplicated" "adgen-result" {
  %both = call { double, double } @fwddiffereturns(ptr %x, ptr %d_x, i32 3)
  %tangent = extractvalue { double, double } %both, 1
  store double %tangent, ptr %result
  ret void
}

define internal { double, double } @fwddiffereturns(ptr %x, ptr %"x'", i32 %n) {
  %ends = icmp eq i32 %n, 0
  br i1 %ends, label %last, label %again

last:
  %"v'" = load double, ptr %"x'"
  %v = load double, ptr %x
  %dfirst = insertelement <2 x double> zeroinitializer, double %"v'", i64 1
  %first = insertelement <2 x double> splat (double 2.0), double %v, i64 1
  %called = call { double, double } @adgen_math_pow_forward(<2 x double> %first, <2 x double> %dfirst)
  ret { double, double } %called

again:
  %less = sub i32 %n, 1
  %inner = call { double, double } @fwddiffereturns(ptr %x, ptr %"x'", i32 %less)
  ret { double, double } %inner
}

define internal { double, double } @adgen_math_pow_forward(<2 x double> %0, <2 x double> %1) {
  %none = fcmp oeq <2 x double> %1, zeroinitializer
  %product = fmul <2 x double> %0, %1
  %chosen = select <2 x i1> %none, <2 x double> zeroinitializer, <2 x double> %product
  %tangent = extractelement <2 x double> %chosen, i64 1
  %value = extractelement <2 x double> %0, i64 0
  %with = insertvalue { double, double } poison, double %value, 0
  %both = insertvalue { double, double } %with, double %tangent, 1
  ret { double, double } %both
}

; A number that comes by value has its tangents behind a pointer. Where there is no shadow, tangents are zero, and are written nowhere.
; CHECK: define dso_local void @adgen_directions_scales(ptr %x, double %by, ptr %y, ptr %d_x, ptr %d_by, ptr %d_y) [[SCALES:#[0-9]+]] {
; CHECK: [[BY:%.*]] = load <2 x double>
; CHECK: call void @fwddiffescales.beside(ptr %x, ptr %d_x, double %by, <2 x double> [[BY]], ptr %y, ptr %d_y)
; CHECK: define internal void @fwddiffescales.beside(ptr %x, ptr %"x'", double %by, <2 x double> %"by'", ptr %y, ptr %"y'") {
; CHECK: [[NOWHERE:%.*]] = alloca [1024 x i8]
; CHECK: [[THERE:%.*]] = getelementptr i8, ptr %"x'", i64 48
; CHECK: [[BITS:%.*]] = ptrtoint ptr %"x'" to i64
; CHECK: [[NONE:%.*]] = icmp slt i64 [[BITS]], 0
; CHECK: [[FROM:%.*]] = select i1 [[NONE]], ptr @adgen_zero_tangents, ptr [[THERE]]
; CHECK: load <2 x double>, ptr [[FROM]], align 8
; CHECK: [[HAS:%.*]] = xor i1 {{%.*}}, true
; CHECK: select i1 [[HAS]], <2 x double> {{%.*}}, <2 x double> zeroinitializer
; CHECK: fmul fast <2 x double>
; CHECK: [[SUM:%.*]] = call <2 x double> @llvm.fma.v2f64(<2 x double> %"by'",
; CHECK: %product = fmul double %v, %by
; CHECK: [[TO:%.*]] = select i1 {{%.*}}, ptr [[NOWHERE]], ptr %"y'"
; CHECK: store <2 x double> [[SUM]], ptr [[TO]], align 8

; Memory of the function's own is twice as large where it is a shadow; a pointer in it lies where its place begins.
; CHECK: define internal void @fwddiffeown.beside(
; CHECK: %s = alloca { ptr, i32 }
; CHECK: [[DS:%.*]] = alloca [32 x i8]
; CHECK: %p = call ptr @malloc(i64 %bytes)
; CHECK: [[TWICE:%.*]] = mul i64 %bytes, 2
; CHECK: [[DP:%"tangents'mi"]] = call ptr @malloc(i64 [[TWICE]])
; CHECK: call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %x, i64 %bytes
; CHECK: call void @llvm.memcpy.p0.p0.i64(ptr [[DP]], ptr %"x'",
; CHECK: call void @llvm.memset.p0.i64(ptr [[DP]], i8 0,
; CHECK: store ptr [[DP]],
; CHECK: getelementptr i8, ptr [[DS]], i64 16
; CHECK: store <2 x i32> zeroinitializer
; CHECK: call void @fwddiffereads.beside(ptr %s, ptr [[DS]], ptr %x, ptr %"x'")
; Memory that is its own shadow has none.
; CHECK: %kept = call ptr @malloc(i64 8)
; CHECK: store ptr inttoptr (i64 -9223372036854775808 to ptr),
; CHECK: br i1 true
; CHECK: [[RELEASED:%.*]] = select i1 false, ptr null, ptr [[DP]]
; CHECK: call void @free(ptr [[RELEASED]])

; CHECK: define internal void @fwddiffereads.beside(
; CHECK: [[LOADED:%.*]] = load ptr
; CHECK: [[NULL:%.*]] = icmp eq ptr [[LOADED]], null
; CHECK: select i1 [[NULL]], ptr inttoptr (i64 -9223372036854775808 to ptr), ptr [[LOADED]]
; CHECK: atomicrmw fadd ptr {{%.*}}, double {{%.*}} monotonic
; CHECK: atomicrmw fadd ptr {{%.*}}, double {{%.*}} monotonic

; CHECK: define dso_local void @adgen_directions_returns(ptr %x, ptr %d_x, ptr %result)
; CHECK: [[BOTH:%.*]] = call { double, <2 x double> } @fwddiffereturns.beside(ptr %x, ptr %d_x, i32 3)
; CHECK: [[TANGENT:%.*]] = extractvalue { double, <2 x double> } [[BOTH]], 1
; CHECK: store <2 x double> [[TANGENT]]
; CHECK: define internal { double, <2 x double> } @fwddiffereturns.beside(
; CHECK: call { double, <2 x double> } @adgen_math_pow_forward.beside(<2 x double> %first, <4 x double>
; CHECK: call { double, <2 x double> } @fwddiffereturns.beside(
; CHECK: define internal { double, <2 x double> } @adgen_math_pow_forward.beside(<2 x double> %0, <4 x double> %1)
; CHECK: [[ZERO:%.*]] = fcmp oeq <4 x double> %1, zeroinitializer
; CHECK: [[NUMBERS:%.*]] = shufflevector <2 x double> %0, <2 x double> poison, <4 x i32> <i32 0, i32 0, i32 1, i32 1>
; CHECK: [[PRODUCT:%.*]] = fmul <4 x double> [[NUMBERS]], %1
; CHECK: [[CHOSEN:%.*]] = select <4 x i1> [[ZERO]], <4 x double> zeroinitializer, <4 x double> [[PRODUCT]]
; CHECK: shufflevector <4 x double> [[CHOSEN]], <4 x double> poison, <2 x i32> <i32 2, i32 3>

; What may throw; what is said of an argument of the primal stays.
; CHECK: define internal { double, <2 x double> } @fwddiffecatches.beside(
; CHECK: [[CAUGHT:%.*]] = invoke { double, <2 x double> } @fwddiffenarrow.beside(ptr %x, ptr %"x'", i1 zeroext true)
; CHECK: phi { double, <2 x double> } [ [[CAUGHT]], {{.*}} ], [ {{.*}}, {{.*}} ]

; What any number of arguments are handed to, of which none is a tangent.
; CHECK: define dso_local void @adgen_directions_prints(
; CHECK: call void (ptr, ...) @prints(ptr poison, double %v)

; CHECK: attributes [[SCALES]] = { "adgen-directions"="2"

; REFUSED: adgen-refusal: {{.*}}"entry":"static"{{.*}}"hint":"the directions are taken one after another"{{.*}}"mode":"directions","reason":"several directions are not carried at once: a variable has one shadow"
; REFUSED: adgen-refusal: {{.*}}"entry":"leaves"{{.*}}"mode":"directions","reason":"several directions are not carried at once through this call"
; REFUSED: adgen-refusal: {{.*}}"entry":"large"{{.*}}"mode":"directions","reason":"several directions are not carried at once through this alloca"
; REFUSED: adgen-refusal: {{.*}}"entry":"mixes"{{.*}}"mode":"directions","reason":"several directions are not carried at once through this store"

define void @adgen_tangent_catches(ptr %x, ptr %d_x) "adgen-tangent-activity"="duplicated" {
  %both = call { double, double } @fwddiffecatches(ptr %x, ptr %d_x)
  %tangent = extractvalue { double, double } %both, 1
  store double %tangent, ptr %d_x
  ret void
}

define internal { double, double } @fwddiffecatches(ptr %x, ptr %"x'") personality ptr @__gxx_personality_v0 {
  %both = invoke { double, double } @fwddiffenarrow(ptr %x, ptr %"x'", i1 zeroext true) to label %end unwind label %caught

caught:
  %pad = landingpad { ptr, i32 } cleanup
  br label %end

end:
  %merged = phi { double, double } [ %both, %0 ], [ zeroinitializer, %caught ]
  ret { double, double } %merged
}

define internal { double, double } @fwddiffenarrow(ptr %x, ptr %"x'", i1 zeroext %twice) {
  %"v'" = load double, ptr %"x'"
  %v = load double, ptr %x
  %with = insertvalue { double, double } poison, double %v, 0
  %both = insertvalue { double, double } %with, double %"v'", 1
  ret { double, double } %both
}

define void @adgen_tangent_prints(ptr %x, ptr %d_x) "adgen-tangent-activity"="duplicated" {
  %v = load double, ptr %x
  call void (ptr, ...) @prints(ptr poison, double %v)
  ret void
}

define internal void @prints(ptr %format, ...) {
  ret void
}

define void @adgen_tangent_static(ptr %x, ptr %d_x) "adgen-tangent-activity"="duplicated" {
  %v = load double, ptr @numbers_shadow
  store double %v, ptr %d_x
  ret void
}

define void @adgen_tangent_leaves(ptr %x, ptr %d_x) "adgen-tangent-activity"="duplicated" {
  call void @unknown(ptr %d_x)
  ret void
}

; Too much for a stack.
define void @adgen_tangent_large(ptr %x, ptr %d_x) "adgen-tangent-activity"="duplicated" {
  %many = alloca [200000 x i8]
  %v = load double, ptr %d_x
  store double %v, ptr %many
  ret void
}

; A number of the primal is no tangent.
define void @adgen_tangent_mixes(ptr %x, ptr %d_x) "adgen-tangent-activity"="duplicated" {
  %v = load double, ptr %x
  store double %v, ptr %d_x
  ret void
}

!0 = !{ptr @numbers_shadow}
