// Before each access of a body to memory that other threads may see, a call tells the host's runtime of it, which finds
// races (host_runtime/races.h). In the module of a witness the body is the primal; what carries tangents stays as it
// is.
#include "Support/Allocations.h"
#include "Support/Pass.h"
#include "Support/Threads.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

#include <array>

using namespace llvm;

namespace adgen {

ADGEN_DECLARE_PASS(RecordAccesses);

namespace {

// Memory comes and goes: a place that one thread had is another's afterwards.
bool movesMemory(const Function &F) { return isAllocation(F) || isRelease(F) || F.getName() == "calloc"; }

class Recorder {
public:
  explicit Recorder(Function &Body) : Body(Body), M(*Body.getParent()), Layout(M.getDataLayout()) { reach(Body); }

  void record() {
    if (Allocates)
      return;
    for (Function *F : Reached)
      for (Instruction &I : make_early_inc_range(instructions(*F)))
        visit(I);
    begin();
  }

private:
  void reach(Function &F) {
    if (!Reached.insert(&F))
      return;
    for (Instruction &I : instructions(F)) {
      auto *Call = dyn_cast<CallBase>(&I);
      Function *Callee = Call ? Call->getCalledFunction() : nullptr;
      if (!Callee)
        continue;
      Allocates |= movesMemory(*Callee);
      if (!Callee->isDeclaration())
        reach(*Callee);
    }
  }

  // Which thread of which block it is.
  void begin() {
    IRBuilder<> B(&*Body.getEntryBlock().getFirstInsertionPt());
    using namespace Intrinsic;
    auto Read = [&](ID Register) { return B.CreateZExt(readRegister(B, Register), B.getInt64Ty()); };
    Value *Block = Read(nvvm_read_ptx_sreg_ctaid_z);
    for (auto [Index, Extent] : {std::pair(nvvm_read_ptx_sreg_ctaid_y, nvvm_read_ptx_sreg_nctaid_y),
                                 std::pair(nvvm_read_ptx_sreg_ctaid_x, nvvm_read_ptx_sreg_nctaid_x)})
      Block = B.CreateAdd(B.CreateMul(Block, Read(Extent)), Read(Index));
    call(B, "adgen_record_thread", {Block, threadInBlock(B), threadsOfBlock(B)});
  }

  void visit(Instruction &I) {
    if (auto *Load = dyn_cast<LoadInst>(&I))
      return Load->isSimple() ? read(I, Load->getPointerOperand(), bytesOf(Load->getType()))
                              : pass(I, Load->getPointerOperand(), bytesOf(Load->getType()), true);
    if (auto *Store = dyn_cast<StoreInst>(&I)) {
      Type *T = Store->getValueOperand()->getType();
      return Store->isSimple() ? write(I, Store->getPointerOperand(), Store->getValueOperand(), bytesOf(T))
                               : pass(I, Store->getPointerOperand(), bytesOf(T), true);
    }
    if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
      return pass(I, Atomic->getPointerOperand(), bytesOf(Atomic->getType()), !Atomic->use_empty());
    if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
      return pass(I, Swap->getPointerOperand(), bytesOf(Swap->getNewValOperand()->getType()), true);
    if (auto *Copy = dyn_cast<MemTransferInst>(&I)) {
      read(I, Copy->getRawSource(), Copy->getLength());
      return writeFrom(I, Copy->getRawDest(), Copy->getRawSource(), Copy->getLength());
    }
    if (auto *Call = dyn_cast<IntrinsicInst>(&I); Call && readsGlobal(Call->getCalledFunction()->getName()))
      read(I, Call->getArgOperand(0), bytesOf(Call->getType()));
  }

  static bool readsGlobal(StringRef Name) {
    return Name.starts_with("llvm.nvvm.ldg.") || Name.starts_with("llvm.nvvm.ldu.");
  }

  Value *bytesOf(Type *T) {
    return ConstantInt::get(Type::getInt64Ty(M.getContext()), Layout.getTypeStoreSize(T).getFixedValue());
  }

  // Variables of one thread, and what nobody may change.
  static bool isPrivate(const Value *Pointer) {
    const Value *Object = getUnderlyingObject(Pointer, 0);
    auto *Global = dyn_cast<GlobalVariable>(Object);
    return isa<AllocaInst>(Object) || (Global && Global->isConstant());
  }

  void read(Instruction &I, Value *Pointer, Value *Bytes) {
    IRBuilder<> B(&I);
    if (!isPrivate(Pointer))
      call(B, "adgen_record_read", {generic(B, Pointer), B.CreateZExtOrTrunc(Bytes, B.getInt64Ty()), placeOf(I)});
  }

  void write(Instruction &I, Value *Pointer, Value *Stored, Value *Bytes) {
    if (isPrivate(Pointer))
      return;
    IRBuilder<> Start(&*I.getFunction()->getEntryBlock().getFirstInsertionPt());
    AllocaInst *Kept = Start.CreateAlloca(Stored->getType());
    IRBuilder<> B(&I);
    B.CreateStore(Stored, Kept);
    writeFrom(I, Pointer, Kept, Bytes);
  }

  void writeFrom(Instruction &I, Value *Pointer, Value *From, Value *Bytes) {
    IRBuilder<> B(&I);
    if (!isPrivate(Pointer))
      call(B, "adgen_record_write",
           {generic(B, Pointer), generic(B, From), B.CreateZExtOrTrunc(Bytes, B.getInt64Ty()), placeOf(I)});
  }

  void pass(Instruction &I, Value *Pointer, Value *Bytes, bool Orders) {
    IRBuilder<> B(&I);
    if (!isPrivate(Pointer))
      call(B, "adgen_record_pass", {generic(B, Pointer), Bytes, B.getInt1(Orders)});
  }

  Value *generic(IRBuilder<> &B, Value *Pointer) { return B.CreateAddrSpaceCast(Pointer, B.getPtrTy()); }

  void call(IRBuilder<> &B, StringRef Name, ArrayRef<Value *> Arguments) {
    SmallVector<Type *> Types(map_range(Arguments, [](Value *A) { return A->getType(); }));
    FunctionCallee Callee = M.getOrInsertFunction(Name, FunctionType::get(B.getVoidTy(), Types, false));
    B.CreateCall(Callee, Arguments)->setDoesNotThrow();
  }

  static std::string pathOf(const DIFile &File) {
    StringRef Name = File.getFilename(), Folder = File.getDirectory();
    return (Name.starts_with("/") || Folder.empty() ? Name.str() : (Folder + "/" + Name).str());
  }

  // file:line, in the file of the kernel where what was inlined comes from another one.
  Value *placeOf(const Instruction &I) {
    const DISubprogram *Program = Body.getSubprogram();
    const DILocation *Place = I.getDebugLoc().get();
    for (; Place && Place->getInlinedAt(); Place = Place->getInlinedAt())
      if (Place->getLine() && Program && Place->getFile() == Program->getFile())
        break;
    std::string Text = ":0";
    if (Place)
      Text = pathOf(*Place->getFile()) + ":" + std::to_string(Place->getLine());
    else if (Program)
      Text = pathOf(*Program->getFile()) + ":" + std::to_string(Program->getLine());
    GlobalVariable *&Known = Places[Text];
    IRBuilder<> B(M.getContext());
    if (!Known)
      Known = B.CreateGlobalString(Text, "adgen_place", 0, &M);
    return Known;
  }

  Function &Body;
  Module &M;
  const DataLayout &Layout;
  SetVector<Function *> Reached;
  bool Allocates = false;
  StringMap<GlobalVariable *> Places;
};

} // namespace

PreservedAnalyses RecordAccesses::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<Function *> Bodies;
  for (Function &F : M)
    if (!F.isDeclaration() && F.getName().starts_with(BodyPrefix))
      Bodies.push_back(&F);
  for (Function *Body : Bodies)
    Recorder(*Body).record();
  return PreservedAnalyses::none();
}

} // namespace adgen
