; What the sweeps of C++ functions allocate may be freed in other functions: it comes from the runtime's blocks, and whatever frees or enlarges memory
; can do so with theirs. The user's own functions allocate as ever.
;
; RUN: %opt -passes=adgen-arena-allocate-caches -S %s | %filecheck %s

; CHECK-LABEL: define internal ptr @augmented_region(
; CHECK: call noalias ptr @adgen_large_alloc(i64 80)
define internal ptr @augmented_region() {
  %kept = call noalias ptr @malloc(i64 80)
  ret ptr %kept
}

; CHECK-LABEL: define internal void @differegion(
; CHECK: call ptr @adgen_large_realloc(ptr %kept, i64 160)
; CHECK: call void @adgen_large_free(ptr %more)
define internal void @differegion(ptr %kept) {
  %more = call ptr @realloc(ptr %kept, i64 160)
  call void @free(ptr %more)
  ret void
}

; CHECK-LABEL: define internal void @own(
; CHECK: call ptr @malloc(i64 80)
; CHECK: call void @adgen_large_free(ptr %kept)
define internal void @own() {
  %kept = call ptr @malloc(i64 80)
  call void @free(ptr %kept)
  ret void
}

; CHECK-LABEL: define internal void @diffenew(
; CHECK: %"memory'mi" = call noalias ptr @adgen_large_alloc(i64 80)
; CHECK: %memory = call noalias ptr @_Znwm(i64 80)
; CHECK: call void @adgen_large_delete(ptr %"memory'mi")
; CHECK: call void @adgen_large_delete(ptr %memory)
define internal void @diffenew() {
  %"memory'mi" = call noalias ptr @_Znwm(i64 80)
  %memory = call noalias ptr @_Znwm(i64 80)
  call void @_ZdlPv(ptr %"memory'mi")
  call void @_ZdlPvm(ptr %memory, i64 80)
  ret void
}

; So do arrays of tangents, not what the function itself makes.
; CHECK-LABEL: define internal void @fwddiffenew.beside(
; CHECK: %"tangents'mi" = call noalias ptr @adgen_large_alloc(i64 1280)
; CHECK: %memory = call noalias ptr @_Znam(i64 80)
; CHECK: call void @adgen_large_delete(ptr %"tangents'mi")
; CHECK: call void @adgen_large_delete(ptr %memory)
define internal void @fwddiffenew.beside() {
  %"tangents'mi" = call noalias ptr @_Znam(i64 1280)
  %memory = call noalias ptr @_Znam(i64 80)
  call void @_ZdaPv(ptr %"tangents'mi")
  call void @_ZdaPv(ptr %memory)
  ret void
}

; CHECK: declare noalias ptr @adgen_large_alloc(i64) #[[FAMILY:.*]]
; CHECK: attributes #[[FAMILY]] = {{.*}}"alloc-family"="adgen_large"
declare noalias ptr @malloc(i64) "alloc-family"="malloc" allockind("alloc")
declare ptr @realloc(ptr, i64)
declare void @free(ptr)
declare ptr @_Znwm(i64)
declare ptr @_Znam(i64)
declare void @_ZdlPv(ptr)
declare void @_ZdaPv(ptr)
declare void @_ZdlPvm(ptr, i64)
