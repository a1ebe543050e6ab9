// Calls: of functions of the file, which are carried over too; of mathematics; of memory; of what threads do with each
// other; and of what has nothing to do with numbers.
#include "Oracle/CarryThrough.h"
#include "Support/Allocations.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {
namespace {

// Of the C and C++ libraries and of OpenMP: they take and give no numbers that vary, or print them.
constexpr StringLiteral WithoutNumbers[] = {"printf",
                                            "fprintf",
                                            "sprintf",
                                            "snprintf",
                                            "vprintf",
                                            "puts",
                                            "putchar",
                                            "fputc",
                                            "fputs",
                                            "fflush",
                                            "fwrite",
                                            "abort",
                                            "exit",
                                            "_exit",
                                            "__assert_fail",
                                            "__assertfail",
                                            "__cxa_",
                                            "_Unwind_",
                                            "__gxx_personality",
                                            "_ZSt9terminatev",
                                            "__clang_call_terminate",
                                            "__errno_location",
                                            "omp_get_",
                                            "omp_set_",
                                            "omp_in_parallel",
                                            "time",
                                            "clock",
                                            "getenv",
                                            "rand",
                                            "srand",
                                            "strlen",
                                            "strcmp",
                                            "memcmp",
                                            "strncmp",
                                            "__kmpc_global_thread_num",
                                            "__kmpc_for_static_",
                                            "__kmpc_dispatch_",
                                            "__kmpc_barrier",
                                            "__kmpc_critical",
                                            "__kmpc_end_critical",
                                            "__kmpc_master",
                                            "__kmpc_end_master",
                                            "__kmpc_masked",
                                            "__kmpc_end_masked",
                                            "__kmpc_single",
                                            "__kmpc_end_single",
                                            "__kmpc_ordered",
                                            "__kmpc_end_ordered",
                                            "__kmpc_push_num_threads",
                                            "__kmpc_flush",
                                            "__kmpc_serialized_parallel",
                                            "__kmpc_end_serialized_parallel",
                                            "_ZSt20__throw_",
                                            "_ZSt17__throw_",
                                            "_ZSt19__throw_",
                                            "_ZSt16__throw_",
                                            "_ZSt24__throw_",
                                            "_ZSt25__throw_",
                                            "_ZSt28__throw_",
                                            "_ZSt18__throw_",
                                            "_ZSt21__throw_",
                                            "_ZSt21__glibcxx_assert_fail",
                                            "_ZNSo",
                                            "_ZStls",
                                            "_ZSt4endl",
                                            "_ZSt5flush",
                                            "_ZSt16__ostream_insert",
                                            "_ZNSt8ios_base",
                                            "_ZNSt9basic_ios",
                                            "_ZNSt7__cxx1112basic_string",
                                            "_ZNKSt7__cxx1112basic_string",
                                            "_ZNSt13runtime_error",
                                            "_ZNSt11logic_error",
                                            "_ZNSt12out_of_range",
                                            "_ZNSt16invalid_argument",
                                            "_ZNSt12length_error",
                                            "_ZNSt12domain_error",
                                            "_ZNSt9exception",
                                            "_ZNSt6chrono",
                                            "_ZNKSt8__detail20_Prime_rehash_policy",
                                            "_ZSt11_Hash_bytes"};

// They rearrange what lies in memory by pointers alone: what they do to nodes they do to the nodes' shadows.
constexpr StringLiteral OfNodes[] = {"_ZSt18_Rb_tree_increment", "_ZSt18_Rb_tree_decrement",
                                     "_ZSt29_Rb_tree_insert_and_rebalance", "_ZSt28_Rb_tree_rebalance_for_erase",
                                     "_ZNSt8__detail15_List_node_base"};

bool beginsAsAny(ArrayRef<StringLiteral> Names, StringRef Name) {
  return any_of(Names, [&](StringRef Each) { return Name.starts_with(Each); });
}

bool isWithoutShadows(const CallBase &Call) {
  switch (Call.getIntrinsicID()) {
  case Intrinsic::lifetime_start:
  case Intrinsic::lifetime_end:
  case Intrinsic::assume:
  case Intrinsic::donothing:
  case Intrinsic::experimental_noalias_scope_decl:
  case Intrinsic::trap:
  case Intrinsic::debugtrap:
  case Intrinsic::ubsantrap:
  case Intrinsic::stackrestore:
  case Intrinsic::stacksave:
  case Intrinsic::invariant_start:
  case Intrinsic::invariant_end:
  case Intrinsic::objectsize:
  case Intrinsic::prefetch:
  case Intrinsic::vastart:
  case Intrinsic::vaend:
  case Intrinsic::is_constant:
  case Intrinsic::eh_typeid_for:
    return true;
  default:
    return isa<DbgInfoIntrinsic>(Call);
  }
}

// What only asks where a thread is, waits, or counts.
bool isOfThreads(StringRef Name) {
  if (!Name.consume_front("llvm.nvvm."))
    return false;
  constexpr StringLiteral Kinds[] = {"read.ptx.sreg.", "barrier", "bar.",          "membar",    "fence",
                                     "vote.",          "match.",  "activemask",    "nanosleep", "isspacep.",
                                     "exit",           "elect",   "griddepcontrol"};
  return beginsAsAny(Kinds, Name);
}

} // namespace

SmallVector<Value *> Carrying::shadowsOfArguments(CallBase &Call) {
  return SmallVector<Value *>(map_range(Call.args(), [&](Use &A) { return shadow(A.get()); }));
}

void Carrying::carryCall(CallBase &Call) {
  Function *Callee = Call.getCalledFunction();
  IRBuilder<> Behind = builderBehind(Call);
  Behind.SetCurrentDebugLocation(Call.getDebugLoc());
  auto Inactive = [&] {
    if (hasShadow(Call.getType()))
      set(Call, inactive(Behind, &Call));
  };
  if (Call.isInlineAsm()) {
    SmallVector<Value *> D = shadowsOfArguments(Call);
    bool OfIntegers = all_of(Call.args(), [](const Use &A) { return A->getType()->isIntegerTy(); });
    if (!OfIntegers || holds(Call.getType(), [](Type *T) { return T->isFloatingPointTy(); }) ||
        !all_of(D, isZeroShadow))
      return stop(Call, "assembly");
    return Inactive();
  }
  if (!Callee)
    return callCarrying(Call);
  StringRef Name = Callee->getName();
  if (Callee->isIntrinsic()) {
    bool Known = true;
    Value *Shadow = ofIntrinsic(Behind, Call, Known);
    if (!Known)
      return stop(Call, "the intrinsic " + Name);
    if (Shadow)
      set(Call, Shadow);
    return;
  }
  if (Module.Numbers.knows(*Callee)) {
    if (Value *Shadow = Module.Numbers.ofFunction(Behind, Call, shadowsOfArguments(Call), *this))
      set(Call, Shadow);
    return;
  }
  if (Name == "__kmpc_fork_call")
    return carryFork(Call);
  if (carryAllocation(Call, Name) || carryReduction(Call, Name))
    return;
  if (Callee->hasFnAttribute("enzyme_inactive"))
    return Inactive();
  if (!Callee->isDeclaration() && !Callee->isVarArg())
    return callCarrying(Call);
  if (beginsAsAny(WithoutNumbers, Name))
    return Inactive();
  if (beginsAsAny(OfNodes, Name)) {
    SmallVector<Value *> D;
    for (Value *A : Call.args())
      D.push_back(A->getType()->isPointerTy() ? shadow(A) : A);
    Value *Shadow = Behind.CreateCall(Callee, D);
    if (hasShadow(Call.getType()))
      set(Call, Shadow);
    return;
  }
  stop(Call, "a call of " + Name);
}

Value *Carrying::ofIntrinsic(IRBuilder<> &B, CallBase &Call, bool &Known) {
  Function &Callee = *Call.getCalledFunction();
  StringRef Name = Callee.getName();
  Type *T = Call.getType();
  auto None = [&] { return hasShadow(T) ? inactive(B, &Call) : nullptr; };
  if (isOfThreads(Name)) // threads that ask each other, or wait, by what depends on data
    noteSteering(Call, SmallVector<Value *>(Call.args()));
  if (isWithoutShadows(Call) || isOfThreads(Name))
    return None();
  if (auto *Copy = dyn_cast<MemTransferInst>(&Call))
    return carryCopy(B, *Copy), nullptr;
  if (auto *Fill = dyn_cast<MemSetInst>(&Call))
    return carryFill(B, *Fill), nullptr;
  SmallVector<Value *> D = shadowsOfArguments(Call);
  SmallVector<Value *> Arguments(Call.args());
  switch (Call.getIntrinsicID()) {
  case Intrinsic::expect:
  case Intrinsic::expect_with_probability:
  case Intrinsic::launder_invariant_group:
  case Intrinsic::strip_invariant_group:
  case Intrinsic::ssa_copy:
  case Intrinsic::threadlocal_address:
    return D[0];
  case Intrinsic::ptrmask: {
    Value *Moved = B.CreateSub(B.CreatePtrToInt(&Call, B.getInt64Ty()), B.CreatePtrToInt(Arguments[0], B.getInt64Ty()));
    return B.CreateGEP(B.getInt8Ty(), D[0], Moved);
  }
  default:
    break;
  }
  if (countsDecisions() && T->isIntOrIntVectorTy(1))
    return ofDecision(B, Call);
  if (Name.starts_with("llvm.nvvm.shfl.")) {
    noteSteering(Call, Arguments[2]);
    if (isZeroShadow(D[1]))
      return Constant::getNullValue(T);
    Arguments[1] = D[1];
    CallInst *Same = B.CreateCall(&Callee, Arguments);
    Same->setAttributes(Call.getAttributes());
    return Same;
  }
  if (Name.starts_with("llvm.nvvm.ldg.") || Name.starts_with("llvm.nvvm.ldu.")) {
    Arguments[0] = D[0];
    return loaded(B, &Call, B.CreateCall(&Callee, Arguments), B.CreateICmpEQ(Call.getArgOperand(0), D[0]));
  }
  if (Name.starts_with("llvm.nvvm.prmt") && isZeroShadow(D[2]) && !Module.Numbers.areSets())
    return isZeroShadow(D[0]) && isZeroShadow(D[1]) ? cast<Value>(Constant::getNullValue(T))
                                                    : B.CreateCall(&Callee, {D[0], D[1], Arguments[2]});
  if (Call.hasFnAttr("enzyme_inactive"))
    return None();
  bool GivesNumbers = holds(T, [](Type *Part) { return Part->isFloatingPointTy(); });
  if (GivesNumbers) {
    Value *Found = Module.Numbers.ofArithmetic(B, Call, D, *this);
    return Known = Found, Found;
  }
  Known = none_of(Call.args(), [](const Use &A) { return A->getType()->isPtrOrPtrVectorTy(); });
  if (!Known || !hasShadow(T))
    return nullptr;
  if (Value *Found = Module.Numbers.ofBits(B, Call, D, *this))
    return Found;
  SmallVector<Value *> Bits;
  for (auto [A, Shadow] : zip(Call.args(), D))
    if (A->getType()->isIntOrIntVectorTy())
      Bits.push_back(Shadow);
  lost(B, Call, Bits);
  return Constant::getNullValue(T);
}

// What is allocated has a shadow of the same size, which goes when it goes.
bool Carrying::carryAllocation(CallBase &Call, StringRef Name) {
  Function *Callee = Call.getCalledFunction();
  IRBuilder<> B = builderBehind(Call);
  SmallVector<Value *> Arguments(Call.args());
  if (isRelease(*Callee)) {
    B.SetInsertPoint(&Call);
    Value *Pointer = Arguments[0], *Shadow = shadow(Pointer);
    Arguments[0] = B.CreateSelect(B.CreateICmpEQ(Pointer, Shadow), Constant::getNullValue(Pointer->getType()), Shadow);
    B.CreateCall(Callee, Arguments);
    return true;
  }
  bool Cleared = Callee->getName() == "calloc";
  if (!Cleared && !isAllocation(*Callee))
    return false;
  Value *Shadow = B.CreateCall(Callee, Arguments, "d_" + Call.getName());
  if (!Cleared) {
    Value *Bytes =
        B.CreateSelect(B.CreateIsNull(Shadow), B.getInt64(0), B.CreateZExtOrTrunc(Arguments[0], B.getInt64Ty()));
    B.CreateMemSet(Shadow, B.getInt8(0), Bytes, MaybeAlign());
  }
  set(Call, Shadow);
  return true;
}

// A struct by value is copied by who calls.
void Carrying::callCarrying(CallBase &Call) {
  IRBuilder<> B(&Call);
  SmallVector<Value *> Arguments(Call.args()), D = shadowsOfArguments(Call);
  IRBuilder<> Start(&*To.getEntryBlock().getFirstInsertionPt());
  for (unsigned I = 0; I < Call.arg_size(); ++I)
    if (Type *Struct = Call.getParamByValType(I)) {
      uint64_t Bytes = To.getDataLayout().getTypeAllocSize(Struct);
      AllocaInst *Own = Start.CreateAlloca(Struct, nullptr, "own"),
                 *OwnShadow = Start.CreateAlloca(Struct, nullptr, "d_own");
      Align Alignment = Call.getParamAlign(I).value_or(Align(16));
      Own->setAlignment(Alignment);
      OwnShadow->setAlignment(Alignment);
      B.CreateMemCpy(Own, Alignment, Arguments[I], MaybeAlign(1), Bytes);
      Value *Has = B.CreateICmpNE(Arguments[I], D[I]);
      B.CreateMemSet(OwnShadow, B.getInt8(0), Bytes, Alignment);
      B.CreateMemCpy(OwnShadow, Alignment, D[I], MaybeAlign(1), B.CreateSelect(Has, B.getInt64(Bytes), B.getInt64(0)));
      Arguments[I] = Own;
      D[I] = OwnShadow;
    }
  append_range(Arguments, D);
  Function *Direct = Call.getCalledFunction();
  Value *Target = Direct ? Module.carrying(*Direct) : shadow(Call.getCalledOperand());
  SmallVector<Type *> Types(map_range(Arguments, [](Value *A) { return A->getType(); }));
  Type *Result = Call.getType()->isVoidTy() ? Call.getType() : StructType::get(Call.getType(), Call.getType());
  auto *Signature = FunctionType::get(Result, Types, false);
  CallBase *New;
  if (auto *Invoke = dyn_cast<InvokeInst>(&Call))
    New = B.CreateInvoke(Signature, Target, Invoke->getNormalDest(), Invoke->getUnwindDest(), Arguments);
  else
    New = B.CreateCall(Signature, Target, Arguments);
  New->setDebugLoc(Call.getDebugLoc());
  for (Attribute::AttrKind Kind : {Attribute::Convergent, Attribute::NoUnwind})
    if (Call.hasFnAttr(Kind))
      New->addFnAttr(Kind);
  if (!Result->isVoidTy()) {
    IRBuilder<> Behind = builderBehind(*New);
    Value *Primal = Behind.CreateExtractValue(New, 0);
    set(*Primal, Behind.CreateExtractValue(New, 1));
    Call.replaceAllUsesWith(Primal);
  }
  Call.eraseFromParent();
}

// The function of a parallel region as OpenMP calls it: its arguments, then their shadows.
static Function *regionOf(ShadowModule &Module, Function &Region) {
  std::string Name = ("adgen_shadow_region_" + Region.getName()).str();
  if (Function *Known = Module.M.getFunction(Name))
    return Known;
  Function *Carrying = Module.carrying(Region);
  unsigned Count = Region.arg_size();
  SmallVector<Type *> Types(Region.getFunctionType()->params());
  append_range(Types, Region.getFunctionType()->params().drop_front(2));
  auto *F = Function::Create(FunctionType::get(Type::getVoidTy(Module.M.getContext()), Types, false),
                             GlobalValue::InternalLinkage, Name, &Module.M);
  IRBuilder<> B(BasicBlock::Create(Module.M.getContext(), "entry", F));
  SmallVector<Value *> Arguments;
  for (unsigned I = 0; I < Count; ++I)
    Arguments.push_back(F->getArg(I));
  Arguments.append({F->getArg(0), F->getArg(1)}); // numbers of threads have no shadows
  for (unsigned I = Count; I < F->arg_size(); ++I)
    Arguments.push_back(F->getArg(I));
  B.CreateCall(Carrying, Arguments);
  B.CreateRetVoid();
  return F;
}

void Carrying::carryFork(CallBase &Fork) {
  auto *Region = dyn_cast<Function>(Fork.getArgOperand(2)->stripPointerCasts());
  if (!Region || isa<InvokeInst>(Fork))
    return stop(Fork, "a parallel region that is not known");
  IRBuilder<> B(&Fork);
  SmallVector<Value *> Arguments(Fork.args());
  unsigned Captured = Arguments.size() - 3;
  Arguments[1] = B.getInt32(2 * Captured);
  Arguments[2] = regionOf(Module, *Region);
  for (unsigned I = 0; I < Captured; ++I)
    Arguments.push_back(shadow(Arguments[3 + I]));
  B.CreateCall(Fork.getFunctionType(), Fork.getCalledOperand(), Arguments)->setDebugLoc(Fork.getDebugLoc());
  Fork.eraseFromParent();
}

// Threads add up one after the other: OpenMP's own trees of threads would know nothing of shadows.
bool Carrying::carryReduction(CallBase &Call, StringRef Name) {
  bool Begins = Name == "__kmpc_reduce" || Name == "__kmpc_reduce_nowait";
  bool Ends = Name == "__kmpc_end_reduce" || Name == "__kmpc_end_reduce_nowait";
  if (!Begins && !Ends)
    return false;
  IRBuilder<> B(&Call);
  llvm::Module &M = Module.M;
  Value *Where = Call.getArgOperand(0), *Thread = Call.getArgOperand(1),
        *Lock = Call.getArgOperand(Call.arg_size() - 1);
  Type *Void = B.getVoidTy(), *Pointer = B.getPtrTy(), *Int32 = B.getInt32Ty();
  B.CreateCall(M.getOrInsertFunction(Begins ? "__kmpc_critical" : "__kmpc_end_critical", Void, Pointer, Int32, Pointer),
               {Where, Thread, Lock});
  if (Name == "__kmpc_end_reduce")
    B.CreateCall(M.getOrInsertFunction("__kmpc_barrier", Void, Pointer, Int32), {Where, Thread});
  if (Begins)
    Call.replaceAllUsesWith(B.getInt32(1));
  Call.eraseFromParent();
  return true;
}

} // namespace adgen
