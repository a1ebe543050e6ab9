// Makes of every adgen_gradient_SYMBOL a kernel SYMBOL__gradient, and in the same way of tangents and second
// derivatives, that the runtime launches: it keeps a copy of structs by value, gives each shared array a shadow of its
// own that the whole block zeroes, and calls the gradient. Where the kernel uses dynamic shared memory a further
// parameter holds its size, and the shadow is the region behind it, aligned to 16 bytes. Where static arrays and their
// shadows are more than a block may have by static arrays, the shadows lie in dynamic shared memory, behind that
// region; and so do the cotangents through which a second derivative carries tangents, where they are more with them.
//
// A gradient with a tape gets four more parameters, the tape, the bytes of it that each lane has, and the extents x, y,
// z of the caller's grid, over whose blocks the launched blocks (a grid of one dimension) walk. Behind the tape lie
// eight bytes, zero at first, by which blocks take the next one where they share memory. Beside it there is a kernel
// SYMBOL__tape, with the parameters of a gradient without tape and a pointer to the bytes needed, that is launched on
// the caller's grid.
#include "GPU/ShadowLayout.h"
#include "Support/Derivative.h"
#include "Support/DynamicShared.h"
#include "Support/Lent.h"
#include "Support/Pass.h"
#include "Support/Threads.h"
#include "Support/Variables.h"
#include "Support/Walk.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace adgen {
namespace {

constexpr uint64_t DynamicAlignment = 16;

bool isOnlyRead(const Value &Pointer) {
  return all_of(Pointer.users(), [](const User *U) {
    auto *Load = dyn_cast<LoadInst>(U);
    return Load ? Load->isSimple() : isa<GetElementPtrInst>(U) && isOnlyRead(*U);
  });
}

class KernelBuilder {
public:
  explicit KernelBuilder(Function &Derivative)
      : Derivative(Derivative), M(*Derivative.getParent()), B(M.getContext()), Activities(activitiesOf(Derivative)),
        Original(*M.getFunction(symbolOf(Derivative))), Variables(variablesOf(Derivative)) {
    for (StringRef Name : sharedNames(Derivative))
      Shared.push_back(M.getNamedGlobal(Name));
    ShadowsMove = M.getTargetTriple().isNVPTX() && bytesOfStatic() > MostStatic;
    CotangentsMove = ShadowsMove && bytesOfArrays() > MostStatic;
  }

  void build() {
    create();
    B.SetInsertPoint(BasicBlock::Create(M.getContext(), "entry", Kernel));
    hasTape() ? walkOverGrid() : walks(Derivative) ? walkAlongX() : callDerivative({});
    B.CreateRetVoid();
    if (MovedBytes)
      Kernel->addFnAttr(MovedShadowsAttribute, std::to_string(MovedBytes));
  }

  // The kernel that measures the tape. No shadow has a part in it.
  static void buildMeasure(Function &Measure, const Function &GradientKernel, unsigned Own) {
    Module &M = *Measure.getParent();
    IRBuilder<> B(M.getContext());
    SmallVector<Type *> Types(Measure.getFunctionType()->params().take_front(Own));
    unsigned Dynamic = GradientKernel.arg_size() - Own - TapeParameters;
    Types.append(Dynamic, B.getInt32Ty());
    Types.push_back(B.getPtrTy());
    auto *Kernel = Function::Create(FunctionType::get(B.getVoidTy(), Types, false), GlobalValue::ExternalLinkage,
                                    Measure.getName().drop_front(TapePrefix.size()) + MeasureSuffix, &M);
    Kernel->setCallingConv(CallingConv::PTX_Kernel);
    for (StringRef Name : {"target-cpu", "target-features", "nvvm.maxntid"})
      if (GradientKernel.hasFnAttribute(Name))
        Kernel->addFnAttr(GradientKernel.getFnAttribute(Name));
    B.SetInsertPoint(BasicBlock::Create(M.getContext(), "entry", Kernel));
    SmallVector<Value *> Arguments;
    for (unsigned I = 0; I < Own; ++I) {
      if (Type *Struct = GradientKernel.getParamByValType(I)) {
        Kernel->addParamAttr(I, Attribute::getWithByValType(M.getContext(), Struct));
        Kernel->addParamAttr(I,
                             Attribute::getWithAlignment(M.getContext(), GradientKernel.getParamAlign(I).valueOrOne()));
      }
      Arguments.push_back(Kernel->getArg(I));
    }
    for (StringRef Name : sharedNames(Measure))
      Arguments.push_back(B.CreateAddrSpaceCast(M.getNamedGlobal(Name), B.getPtrTy()));
    Arguments.append(Measure.arg_size() - Arguments.size() - 1, PoisonValue::get(B.getPtrTy()));
    Arguments.push_back(Kernel->getArg(Kernel->arg_size() - 1));
    B.CreateCall(&Measure, Arguments);
    B.CreateRetVoid();
  }

  Function *kernel() const { return Kernel; }
  // Parameters and their shadows, without what the launch adds.
  unsigned ownArguments() const { return firstShared() - Variables.size(); }

private:
  unsigned firstShared() const {
    return Derivative.arg_size() - 2 * Shared.size() - (hasTape() ? TapeArguments : walks(Derivative));
  }
  unsigned parameters() const { return Activities.size(); }
  bool anyDynamic() const {
    return any_of(Shared, [](GlobalVariable *Array) { return isDynamicShared(*Array); });
  }
  // A struct that holds pointers has a struct as its shadow, an active one a pointer.
  uint64_t shadowStructBytes(unsigned Index) const {
    return Activities[Index] == Activity::Duplicated ? structBytes(Derivative, Index) : 0;
  }

  static constexpr unsigned LaunchAxes = 3,
                            TapeParameters = 2 + LaunchAxes; // of the kernel: tape, bytes a lane, extents

  bool hasTape() const { return Derivative.hasFnAttribute(TapeAttribute); }

  // Calls the gradient once; `Place` are its last arguments, where it has a tape.
  void callDerivative(ArrayRef<Value *> Place) {
    SmallVector<Value *> Arguments;
    for (unsigned I = 0; I < parameters(); ++I)
      Arguments.push_back(passed(I, structBytes(Derivative, I), *Derivative.getArg(I)));
    unsigned Next = parameters();
    for (auto [Index, A] : enumerate(Activities))
      if (A != Activity::Const)
        Arguments.push_back(passed(Next++, shadowStructBytes(Index), *Derivative.getArg(Arguments.size())));
    for (GlobalVariable *Variable : Variables)
      Arguments.push_back(generic(Variable));
    passShared(Arguments);
    if (Turn)
      takeTurn();
    append_range(Arguments, Place);
    B.CreateCall(&Derivative, Arguments);
  }

  // for (block = this block; block < blocks of the grid; block = next), where the next one is as many further as blocks
  // were launched; or, in kernels with shared memory, whose threads wait for each other between blocks anyway, the
  // first one that nobody has taken: blocks may differ in how long they take.
  void walkOverGrid() {
    unsigned First = Kernel->arg_size() - TapeParameters;
    Value *X = Kernel->getArg(First + 2), *Y = Kernel->getArg(First + 3), *Z = Kernel->getArg(First + 4);
    Type *Int64 = B.getInt64Ty();
    Value *Row = B.CreateZExt(X, Int64), *Plane = B.CreateMul(Row, B.CreateZExt(Y, Int64));
    Value *Blocks = B.CreateMul(Plane, B.CreateZExt(Z, Int64));
    Value *Own = B.CreateZExt(readRegister(B, Intrinsic::nvvm_read_ptx_sreg_ctaid_x), Int64);
    Value *Launched = B.CreateZExt(readRegister(B, Intrinsic::nvvm_read_ptx_sreg_nctaid_x), Int64);
    Value *Begin = tapeOfThread(Kernel->getArg(First), Kernel->getArg(First + 1), Own);
    if (deals())
      createCounter(*Kernel->getArg(First), *Kernel->getArg(First + 1), *Launched);
    callAround(BeforeWalkAttribute);
    BasicBlock *Before = B.GetInsertBlock();
    auto *Loop = BasicBlock::Create(M.getContext(), "block", Kernel);
    B.CreateBr(Loop); // no more blocks are launched than the grid has
    B.SetInsertPoint(Loop);
    PHINode *Block = B.CreatePHI(Int64, 2);
    Block->addIncoming(Own, Before);
    auto Index = [&](Value *V) { return B.CreateTrunc(V, B.getInt32Ty()); };
    Value *Bx = Index(B.CreateURem(Block, Row));
    Value *By = Index(B.CreateUDiv(B.CreateURem(Block, Plane), Row)), *Bz = Index(B.CreateUDiv(Block, Plane));
    callDerivative({Kernel->getArg(First + 1), Begin, Bx, By, Bz, X, Y, Z});
    if (!Shared.empty()) // the next block zeroes what this one still reads
      B.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_sync_aligned_all, {}, {B.getInt32(0)});
    Value *Next = B.CreateAdd(Block, Launched);
    if (Turn) { // which nobody has set to zero where each block has one of its own
      Value *Taken = B.CreateAdd(B.CreateLoad(Int64, Turn, /*isVolatile=*/true), Launched);
      Next = B.CreateSelect(B.CreateICmpULT(Launched, Blocks), Taken, Next);
    }
    Block->addIncoming(Next, B.GetInsertBlock());
    auto *After = BasicBlock::Create(M.getContext(), "done", Kernel);
    B.CreateCondBr(B.CreateICmpULT(Next, Blocks), Loop, After);
    B.SetInsertPoint(After);
    callAround(BehindWalkAttribute);
  }

  // if (blockIdx.x < step) for (block = blockIdx.x; block < gridDim.x; block += step)
  void walkAlongX() {
    Value *Own = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_ctaid_x),
          *All = readRegister(B, Intrinsic::nvvm_read_ptx_sreg_nctaid_x), *Step = stepOfWalk(B);
    if (Function *Asked = M.getFunction((WalkQuestion + symbolOf(Derivative)).str()))
      Step = B.CreateSelect(callWithKernels(*Asked), Step, All);
    LLVMContext &Context = M.getContext();
    auto *Walk = BasicBlock::Create(Context, "walk", Kernel), *Loop = BasicBlock::Create(Context, "block", Kernel),
         *After = BasicBlock::Create(Context, "walked", Kernel), *Done = BasicBlock::Create(Context, "done", Kernel);
    B.CreateCondBr(B.CreateICmpULT(Own, Step), Walk, Done);
    B.SetInsertPoint(Walk);
    callAround(BeforeWalkAttribute);
    BasicBlock *Before = B.GetInsertBlock();
    B.CreateBr(Loop);
    B.SetInsertPoint(Loop);
    PHINode *Block = B.CreatePHI(B.getInt32Ty(), 2);
    Block->addIncoming(Own, Before);
    callDerivative({Block});
    B.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_sync_all, {}, {B.getInt32(0)}); // what is shared is used again
    Value *Next = B.CreateNUWAdd(Block, Step);
    Block->addIncoming(Next, B.GetInsertBlock());
    B.CreateCondBr(B.CreateICmpULT(Next, All), Loop, After);
    B.SetInsertPoint(After);
    callAround(BehindWalkAttribute);
    B.CreateBr(Done);
    B.SetInsertPoint(Done);
  }

  // What threads do once for all blocks to which they walk.
  void callAround(StringRef Attribute) {
    Function *Around = M.getFunction(Derivative.getFnAttribute(Attribute).getValueAsString());
    if (!Around)
      return;
    callWithKernels(*Around);
  }

  CallInst *callWithKernels(Function &Callee) {
    SmallVector<Value *> Arguments;
    for (const Argument &A : Callee.args())
      Arguments.push_back(passedAround(A));
    Callee.addFnAttr(llvm::Attribute::AlwaysInline);
    return B.CreateCall(&Callee, Arguments);
  }

  Value *passedAround(const Argument &A) {
    const unsigned Own = ownArguments(), Number = A.getArgNo(), FromLast = A.getParent()->arg_size() - Number;
    if (Number < Own)
      return Kernel->getArg(Number);
    if (hasTape() && FromLast <= LaunchAxes)
      return Kernel->getArg(Kernel->arg_size() - FromLast);
    return Number < firstShared() ? generic(Variables[Number - Own]) : PoisonValue::get(A.getType());
  }

  // The rest of 48 KiB is for what adds up in blocks.
  static constexpr uint64_t StaticLimit = 32 << 10, CounterBytes = 8, MostStatic = 48 << 10;

  // Whether a number more fits into shared memory.
  bool deals() const { return !Shared.empty() && !anyDynamic() && bytesOfStatic() + CounterBytes <= StaticLimit; }

  // Static arrays with their shadows.
  uint64_t bytesOfStatic() const {
    uint64_t Bytes = 0;
    for (auto [Index, Array] : enumerate(Shared))
      if (!isDynamicShared(*Array))
        Bytes += alignTo(staticBytes(*Array), WidestWord) +
                 (hasShadow(Index) ? alignTo(shadowBytes(staticBytes(*Array)), WidestWord) : 0);
    return Bytes;
  }

  // The arrays alone: a second derivative has each of them, and one for its cotangents.
  uint64_t bytesOfArrays() const {
    uint64_t Bytes = 0;
    for (const GlobalVariable *Array : Shared)
      Bytes += isDynamicShared(*Array) ? 0 : alignTo(staticBytes(*Array), WidestWord);
    return Bytes;
  }

  // Whether an array that only a derivative has lies in dynamic shared memory.
  bool moves(const GlobalVariable &Array) const {
    return CotangentsMove && !isDynamicShared(Array) && Array.getName().starts_with(CotangentsPrefix);
  }

  // How many blocks were taken lies behind the tape, zero at first; a shared variable holds it for the block.
  void createCounter(Value &Tape, Value &LaneBytes, Value &Launched) {
    Counter =
        B.CreateGEP(B.getInt8Ty(), &Tape, B.CreateMul(B.CreateMul(&Launched, warps()), B.CreateShl(&LaneBytes, 5)));
    Turn = new GlobalVariable(M, B.getInt64Ty(), false, GlobalValue::InternalLinkage, UndefValue::get(B.getInt64Ty()),
                              "adgen_turn", nullptr, GlobalValue::NotThreadLocal, SharedSpace);
    Turn->setAlignment(Align(CounterBytes));
  }

  // Early, as memory takes its time; behind a barrier, as threads have read the last number before.
  void takeTurn() {
    auto *Takes = BasicBlock::Create(M.getContext(), "takes", Kernel);
    auto *Taken = BasicBlock::Create(M.getContext(), "taken", Kernel);
    B.CreateCondBr(B.CreateIsNull(threadInBlock(B)), Takes, Taken);
    B.SetInsertPoint(Takes);
    Value *Old =
        B.CreateAtomicRMW(AtomicRMWInst::Add, Counter, B.getInt64(1), Align(CounterBytes), AtomicOrdering::Monotonic);
    B.CreateStore(Old, Turn, /*isVolatile=*/true);
    B.CreateBr(Taken);
    B.SetInsertPoint(Taken);
  }

  Value *warps() {
    return B.CreateLShr(B.CreateAdd(B.CreateZExt(threadsOfBlock(B), B.getInt64Ty()), B.getInt64(31)), 5);
  }

  // The lanes of a warp share a region and begin 8 bytes apart in it.
  Value *tapeOfThread(Value *Tape, Value *LaneBytes, Value *Block) {
    Type *Int64 = B.getInt64Ty();
    Value *Thread = B.CreateZExt(threadInBlock(B), Int64);
    Value *Warp = B.CreateAdd(B.CreateMul(Block, warps()), B.CreateLShr(Thread, 5));
    Value *Region = B.CreateMul(Warp, B.CreateShl(LaneBytes, 5));
    Value *Lane = B.CreateShl(B.CreateAnd(Thread, 31), 3);
    return B.CreateGEP(B.getInt8Ty(), Tape, B.CreateAdd(Region, Lane));
  }

  void create() {
    SmallVector<Type *> Types(Derivative.getFunctionType()->params().take_front(ownArguments()));
    if (anyDynamic())
      Types.push_back(B.getInt32Ty());
    if (hasTape())
      Types.append({B.getPtrTy(), B.getInt64Ty(), B.getInt32Ty(), B.getInt32Ty(), B.getInt32Ty()});
    Kernel = Function::Create(FunctionType::get(B.getVoidTy(), Types, false), GlobalValue::ExternalLinkage,
                              Original.getName() + suffixOf(Derivative), &M);
    Kernel->setCallingConv(CallingConv::PTX_Kernel);
    if (hasTape())
      Kernel->addParamAttr(Kernel->arg_size() - TapeParameters, Attribute::get(M.getContext(), TapeMemoryAttribute));
    for (StringRef Name : {SharedAttribute, ActivityAttribute, TangentActivityAttribute, TapeAttribute,
                           RegistersAttribute, LentAttribute})
      if (Derivative.hasFnAttribute(Name))
        Kernel->addFnAttr(Derivative.getFnAttribute(Name));
    for (StringRef Name : {"target-cpu", "target-features", "nvvm.maxntid", "nvvm.minctasm"})
      if (Original.hasFnAttribute(Name))
        Kernel->addFnAttr(Original.getFnAttribute(Name));
    unsigned Next = parameters();
    for (unsigned I = 0; I < parameters(); ++I) {
      MaybeAlign Alignment =
          I < Original.arg_size() ? Original.getParamAlign(I) : std::nullopt; // second derivatives have more parameters
      markStruct(I, structBytes(Derivative, I), Alignment);
      if (Activities[I] == Activity::Const)
        continue;
      markStruct(Next++, shadowStructBytes(I), Alignment);
    }
  }

  void markStruct(unsigned Index, uint64_t Bytes, MaybeAlign Alignment) {
    if (!Bytes)
      return;
    auto *Type = ArrayType::get(B.getInt8Ty(), Bytes);
    Kernel->addParamAttr(Index, Attribute::getWithByValType(M.getContext(), Type));
    Kernel->addParamAttr(Index, Attribute::getWithAlignment(M.getContext(), Alignment.value_or(Align(8))));
  }

  // A struct that the derivative writes is copied. Else it is read where the kernel has it: the copy of one that holds
  // an array, of which only the thread knows which element it reads, would stay in local memory.
  Value *passed(unsigned Index, uint64_t Bytes, const Argument &As) {
    Argument *A = Kernel->getArg(Index);
    if (!Bytes || isOnlyRead(As))
      return A;
    Align Alignment = Kernel->getParamAlign(Index).value_or(Align(8));
    IRBuilder<> Start(&Kernel->getEntryBlock(), Kernel->getEntryBlock().begin());
    AllocaInst *Copy = Start.CreateAlloca(ArrayType::get(B.getInt8Ty(), Bytes));
    Copy->setAlignment(Alignment);
    B.CreateMemCpy(Copy, Alignment, A, Alignment, Bytes);
    return Copy;
  }

  void passShared(SmallVectorImpl<Value *> &Arguments) {
    SmallVector<Value *> Shadows;
    Value *Region = nullptr; // all dynamic arrays are one
    for (auto [Index, Array] : enumerate(Shared)) {
      Arguments.push_back(moves(*Array) ? moved(*Array) : generic(Array));
      if (!isDynamicShared(*Array) && !hasShadow(Index)) {
        Shadows.push_back(PoisonValue::get(B.getPtrTy()));
        continue;
      }
      if (!isDynamicShared(*Array)) {
        Shadows.push_back(zeroedShadow(*Array));
        continue;
      }
      Array->setAlignment(std::max(Array->getAlign().valueOrOne(), Align(DynamicAlignment)));
      Value *Bytes = paddedDynamicBytes();
      Shadows.push_back(B.CreateGEP(B.getInt8Ty(), generic(Array), B.CreateZExt(Bytes, B.getInt64Ty())));
      if (!Region)
        zero(Region = Shadows.back(), B.CreateLShr(Bytes, Log2_64(DynamicAlignment)), DynamicAlignment);
    }
    append_range(Arguments, Shadows);
    if (!Shared.empty())
      B.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_sync_aligned_all, {}, {B.getInt32(0)});
  }

  // Arrays that are constants have none.
  bool hasShadow(unsigned Index) const {
    return !Derivative.getArg(firstShared() + Shared.size() + Index)->use_empty();
  }

  Value *zeroedShadow(GlobalVariable &Array) {
    Value *Shadow = ShadowsMove ? moved(Array) : generic(createShadow(Array));
    uint64_t Bytes = staticBytes(Array), Word = MinAlign(Bytes, WidestWord);
    zero(Shadow, B.getInt32(Bytes / Word), Word);
    return Shadow;
  }

  Value *generic(GlobalVariable *Array) { return B.CreateAddrSpaceCast(Array, B.getPtrTy()); }

  uint64_t staticBytes(const GlobalVariable &Array) const {
    return M.getDataLayout().getTypeAllocSize(Array.getValueType());
  }

  Value *paddedDynamicBytes() {
    Value *Bytes = Kernel->getArg(ownArguments());
    Value *Up = B.CreateAdd(Bytes, B.getInt32(DynamicAlignment - 1));
    return B.CreateAnd(Up, B.getInt32(~uint32_t(DynamicAlignment - 1)));
  }

  // The next bytes of dynamic shared memory, behind the caller's and their shadow.
  Value *moved(const GlobalVariable &Array) {
    Value *Begin = generic(movedShadows());
    if (anyDynamic())
      Begin = B.CreateGEP(B.getInt8Ty(), Begin, B.CreateShl(B.CreateZExt(paddedDynamicBytes(), B.getInt64Ty()), 1));
    Value *Place = B.CreateConstGEP1_64(B.getInt8Ty(), Begin, MovedBytes);
    MovedBytes += alignTo(shadowBytes(staticBytes(Array)), WidestWord);
    return Place;
  }

  GlobalVariable *movedShadows() {
    constexpr StringLiteral Name = "adgen_moved_shadows";
    if (GlobalVariable *Known = M.getNamedGlobal(Name))
      return Known;
    auto *Region = new GlobalVariable(M, ArrayType::get(B.getInt8Ty(), 0), false, GlobalValue::ExternalLinkage, nullptr,
                                      Name, nullptr, GlobalValue::NotThreadLocal, SharedSpace);
    Region->setAlignment(Align(DynamicAlignment));
    return Region;
  }

  GlobalVariable *createShadow(GlobalVariable &Array) {
    std::string Name = ("adgen_shadow_" + Original.getName() + "_" + Array.getName()).str();
    std::replace(Name.begin(), Name.end(), '.', '_');
    uint64_t Bytes = staticBytes(Array), Longer = shadowBytes(Bytes);
    Type *T = Array.getValueType();
    if (Longer > Bytes)
      T = ArrayType::get(B.getInt8Ty(), Longer);
    auto *Shadow = new GlobalVariable(M, T, false, GlobalValue::InternalLinkage, UndefValue::get(T), Name, nullptr,
                                      GlobalValue::NotThreadLocal, SharedSpace);
    Shadow->setAlignment(Array.getAlign()); // hideTheRest aligns all shared arrays to the widest word
    return Shadow;
  }

  // for (i = thread; i < words; i += threads of the block) shadow[i] = 0
  void zero(Value *Shadow, Value *Words, uint64_t WordBytes) {
    Value *First = threadInBlock(B), *Step = threadsOfBlock(B);
    BasicBlock *Before = B.GetInsertBlock();
    auto *Head = BasicBlock::Create(M.getContext(), "zero", Kernel);
    auto *Loop = BasicBlock::Create(M.getContext(), "zero.word", Kernel);
    auto *After = BasicBlock::Create(M.getContext(), "zeroed", Kernel);
    B.CreateBr(Head);
    B.SetInsertPoint(Head);
    PHINode *Index = B.CreatePHI(B.getInt32Ty(), 2);
    Index->addIncoming(First, Before);
    B.CreateCondBr(B.CreateICmpULT(Index, Words), Loop, After);
    B.SetInsertPoint(Loop);
    Type *Word = wordOf(WordBytes);
    Value *At = B.CreateGEP(Word, Shadow, B.CreateZExt(Index, B.getInt64Ty()));
    B.CreateAlignedStore(Constant::getNullValue(Word), At, Align(WordBytes));
    Index->addIncoming(B.CreateAdd(Index, Step), Loop);
    B.CreateBr(Head);
    B.SetInsertPoint(After);
  }

  // 16 bytes are stored at once as a vector.
  Type *wordOf(uint64_t Bytes) {
    return Bytes < 16 ? cast<Type>(B.getIntNTy(8 * Bytes)) : FixedVectorType::get(B.getInt32Ty(), Bytes / 4);
  }

  Function &Derivative;
  Module &M;
  IRBuilder<> B;
  SmallVector<Activity> Activities;
  Function &Original;
  SmallVector<GlobalVariable *> Variables; // whose shadows the derivative has as arguments
  SmallVector<GlobalVariable *> Shared;
  Function *Kernel = nullptr;
  Value *Counter = nullptr;
  GlobalVariable *Turn = nullptr;
  bool ShadowsMove = false, CotangentsMove = false;
  uint64_t MovedBytes = 0;
};

// Nothing but kernels and the device's variables is seen from outside.
void hideTheRest(Module &M) {
  for (Function &F : make_early_inc_range(M)) {
    if (F.isDeclaration() || isKernel(F))
      continue;
    F.setLinkage(GlobalValue::InternalLinkage);
    F.setComdat(nullptr);
    if (F.getName().starts_with(BodyPrefix) && F.use_empty())
      F.eraseFromParent();
  }
  for (GlobalVariable &Global : M.globals())
    if (Global.getAddressSpace() == SharedSpace && !Global.isDeclaration()) {
      Global.setLinkage(GlobalValue::InternalLinkage); // MakeBodies kept it
      Global.setAlignment(std::max(Global.getAlign().valueOrOne(), Align(WidestWord)));
    }
}

} // namespace

ADGEN_DECLARE_PASS(MakeKernels);

PreservedAnalyses MakeKernels::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<Function *> Derivatives;
  for (Function &F : M)
    if (isDerivative(F))
      Derivatives.push_back(&F);
  for (Function *Derivative : Derivatives) {
    KernelBuilder Builder(*Derivative);
    Builder.build();
    Derivative->addFnAttr(Attribute::AlwaysInline);
    if (Function *Measure = M.getFunction((TapePrefix + symbolOf(*Derivative)).str());
        Measure && Derivative->hasFnAttribute(TapeAttribute))
      KernelBuilder::buildMeasure(*Measure, *Builder.kernel(), Builder.ownArguments());
  }
  hideTheRest(M);
  return PreservedAnalyses::none();
}

} // namespace adgen
