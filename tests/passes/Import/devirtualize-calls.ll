; Pointers that only the module itself can have set become choices among the functions of their type; their addresses become numbers.
;
; RUN: %opt -passes=adgen-devirtualize-calls -S %s | %filecheck %s
; RUN: %opt -passes='adgen-devirtualize-calls,always-inline,globaldce,function(sroa,early-cse,simplifycfg),default<O2>' -S %s | %filecheck %s --check-prefix=INLINED

target triple = "nvptx64-nvidia-cuda"

; CHECK: @table = {{.*}} [2 x ptr] [ptr inttoptr (i64 16 to ptr), ptr inttoptr (i64 32 to ptr)]
@list = internal addrspace(3) global [2 x ptr] undef
@others = internal addrspace(3) global [2 x ptr] undef
@flags = addrspace(1) externally_initialized global i64 0
@table = addrspace(1) externally_initialized global [2 x ptr] [ptr @square, ptr @twice]
; CHECK: @_ZTV5Shape = internal constant
@_ZTV5Shape = constant { [3 x ptr] } { [3 x ptr] [ptr null, ptr null, ptr @area] }

define float @square(float %x) #0 {
  %result = fmul float %x, %x
  ret float %result
}
define float @twice(float %x) #0 {
  %result = fadd float %x, %x
  ret float %result
}
define float @never(float %x) #0 {
  ret float 0.0
}
define float @area(ptr %this, float %x) #0 {
  %at = getelementptr i8, ptr %this, i64 8
  %scale = load float, ptr %at
  %result = fmul float %scale, %x
  ret float %result
}

; CHECK-LABEL: define ptx_kernel void @from_table(
; CHECK:         %[[NUMBER:.*]] = load i64, ptr addrspace(1) %at
; CHECK:         switch i64 %[[NUMBER]], label %nowhere [
; CHECK-NEXT:      i64 16, label %[[SQUARE:.*]]
; CHECK-NEXT:      i64 32, label %[[TWICE:.*]]
; CHECK-NEXT:    ]
; CHECK:         [[SQUARE]]:
; CHECK:         call float @square(float %x)
; CHECK:         [[TWICE]]:
; CHECK:         call float @twice(float %x)
define ptx_kernel void @from_table(ptr %y, float %x, i64 %which) {
  %at = getelementptr ptr, ptr addrspace(1) @table, i64 %which
  %function = load ptr, ptr addrspace(1) %at
  %result = call float %function(float %x)
  store float %result, ptr %y
  ret void
}

; INLINED-LABEL: define ptx_kernel void @virtual(
; INLINED-NOT:     call
; INLINED-NOT:     switch
; INLINED:         %[[RESULT:.*]] = fmul float %x, 3.000000e+00
; INLINED:         store float %[[RESULT]], ptr %y
; INLINED:         ret void
define ptx_kernel void @virtual(ptr %y, float %x) {
  %shape = alloca { ptr, float }
  store ptr getelementptr ({ [3 x ptr] }, ptr @_ZTV5Shape, i32 0, i32 0, i32 2), ptr %shape
  %scale = getelementptr i8, ptr %shape, i64 8
  store float 3.0, ptr %scale
  %table = load ptr, ptr %shape
  %function = load ptr, ptr %table
  %result = call float %function(ptr %shape, float %x)
  store float %result, ptr %y
  ret void
}

; A function that calls itself hands on what its callers gave it.
; CHECK-LABEL: define internal float @again(
; CHECK:         %[[HANDED:.*]] = ptrtoint ptr %function to i64
; CHECK:         switch i64 %[[HANDED]], label %nowhere
; CHECK:         call float @again(ptr %function,
define internal float @again(ptr %function, float %x, i32 %n) {
  %result = call float %function(float %x)
  %done = icmp eq i32 %n, 0
  br i1 %done, label %end, label %more
more:
  %less = sub i32 %n, 1
  %further = call float @again(ptr %function, float %result, i32 %less)
  ret float %further
end:
  ret float %result
}

; CHECK-LABEL: define ptx_kernel void @calls_again(
; CHECK:         call float @again(ptr inttoptr (i64 16 to ptr), float %x, i32 %n)
define ptx_kernel void @calls_again(ptr %y, float %x, i32 %n) {
  %result = call float @again(ptr @square, float %x, i32 %n)
  store float %result, ptr %y
  ret void
}

; What a parameter holds is not known.
; CHECK-LABEL: define ptx_kernel void @from_parameter(
; CHECK:         call float %function(float %x)
define ptx_kernel void @from_parameter(ptr %function, ptr %y, float %x) {
  %result = call float %function(float %x)
  store float %result, ptr %y
  ret void
}

; What the kernel allocates or keeps in shared memory is its own.
; CHECK-LABEL: define ptx_kernel void @of_own_objects(
; CHECK:         switch i64 %{{.*}}, label %nowhere
define ptx_kernel void @of_own_objects(ptr %y, float %x, i64 %n) {
  %shape = call ptr @malloc(i64 16)
  store ptr getelementptr ({ [3 x ptr] }, ptr @_ZTV5Shape, i32 0, i32 0, i32 2), ptr %shape
  store ptr %shape, ptr addrspacecast (ptr addrspace(3) @list to ptr)
  %at = getelementptr ptr, ptr addrspacecast (ptr addrspace(3) @list to ptr), i64 %n
  %object = load ptr, ptr %at
  %table = load ptr, ptr %object
  %function = load ptr, ptr %table
  %result = call float %function(ptr %object, float %x)
  store float %result, ptr %y
  call void @free(ptr %shape)
  ret void
}

; Unless something from outside is put there.
; CHECK-LABEL: define ptx_kernel void @of_given_objects(
; CHECK:         call float %function(ptr %object, float %x)
define ptx_kernel void @of_given_objects(ptr %given, ptr %y, float %x, i64 %n) {
  store ptr %given, ptr addrspacecast (ptr addrspace(3) @others to ptr)
  %at = getelementptr ptr, ptr addrspacecast (ptr addrspace(3) @others to ptr), i64 %n
  %object = load ptr, ptr %at
  %table = load ptr, ptr %object
  %function = load ptr, ptr %table
  %result = call float %function(ptr %object, float %x)
  store float %result, ptr %y
  ret void
}

; Nor what an object in memory is.
; CHECK-LABEL: define ptx_kernel void @of_object(
; CHECK:         call float %function(ptr %object, float %x)
define ptx_kernel void @of_object(ptr %object, ptr %y, float %x) {
  %table = load ptr, ptr %object
  %function = load ptr, ptr %table
  %result = call float %function(ptr %object, float %x)
  store float %result, ptr %y
  ret void
}

declare ptr @malloc(i64)
declare void @free(ptr)

; Of pointers to members the lowest bit says that they are virtual.
; What the host may set to odd numbers is no such pointer.
; CHECK-LABEL: define ptx_kernel void @members(
; CHECK:         select i1 %c, i64 {{.*}}16{{.*}}, i64 {{.*}}32
; CHECK:         switch i64
; CHECK:         store i64 0, ptr %bits
; CHECK:         [[ODD:%.*]] = and i64 %flag, 1
; CHECK:         store i64 [[ODD]], ptr %bits
define ptx_kernel void @members(ptr %y, ptr %bits, float %x, i1 %c, i64 %which) {
  %pair = select i1 %c, { i64, i64 } { i64 ptrtoint (ptr @square to i64), i64 0 }, { i64, i64 } { i64 ptrtoint (ptr @twice to i64), i64 0 }
  %word = extractvalue { i64, i64 } %pair, 0
  %function = inttoptr i64 %word to ptr
  %result = call float %function(float %x)
  store float %result, ptr %y
  %at = getelementptr ptr, ptr addrspace(1) @table, i64 %which
  %fromtable = load i64, ptr addrspace(1) %at
  %isvirtual = and i64 %fromtable, 1
  store i64 %isvirtual, ptr %bits
  %flag = load i64, ptr addrspace(1) @flags
  %isodd = and i64 %flag, 1
  store i64 %isodd, ptr %bits
  ret void
}

attributes #0 = { alwaysinline }
