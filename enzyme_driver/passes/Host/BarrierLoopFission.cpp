// Where all threads of a block come to every barrier alike, the block needs no switching between threads: it is cut at
// the barriers into regions, each a loop over the threads, and what all threads do alike (branches, counters, loads of
// one place) is done once, around the loops. What a thread keeps from region to region lies in arrays with one element
// a thread, or is computed again where that is cheap. An inner loop whose count is the same for all threads runs around
// the loop over threads, which can then be vectorised.
//
// Works on the function of one thread that adgen-make-host-entries has made, SYMBOL_each, and adds to its description
// (adgen_cooperative in host_runtime/launch.h) the function of a whole block:
//   void SYMBOL_split(launch, args, shared memory, scratch memory, block x, y, z)
// once with atomic additions outside of shared memory, and once without any. What it can't do keeps its threads on
// stacks of their own.
#include "Analysis/Accumulation.h"
#include "Analysis/Uniformity.h"
#include "Support/Pass.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

#include <memory>
#include <optional>

using namespace llvm;

namespace adgen {
namespace {

// The arguments of the function of one thread.
enum { Launch, Args, Shared, Handle, BlockX, BlockY, BlockZ, ThreadX, ThreadY, ThreadZ };

// Instructions of a function that is cut: each region brings loops and copies of its own, and larger ones take minutes
// to compile.
constexpr unsigned Most = 3000;

constexpr StringLiteral DynamicBytes = "adgen_dynamic_bytes";

StringRef calleeName(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  return Call && Call->getCalledFunction() ? Call->getCalledFunction()->getName() : "";
}

bool isThreadIndex(const Value *V) {
  auto *A = dyn_cast<Argument>(V);
  return A && A->getArgNo() >= ThreadX;
}

Uniformity::Kind kindOf(const Value &V) {
  if (isThreadIndex(&V))
    return Uniformity::Kind::Differs;
  auto *I = dyn_cast<Instruction>(&V);
  return !I || waitsForBlock(*I) || calleeName(*I) == DynamicBytes ? Uniformity::Kind::Same : Uniformity::Kind::Derived;
}

// Has no effect but for the optimiser.
bool isHint(const Instruction &I) {
  auto *Intrinsic = dyn_cast<IntrinsicInst>(&I);
  return Intrinsic &&
         (Intrinsic->isLifetimeStartOrEnd() || Intrinsic->getIntrinsicID() == Intrinsic::assume ||
          Intrinsic->getIntrinsicID() == Intrinsic::experimental_noalias_scope_decl || isa<DbgInfoIntrinsic>(I));
}

bool isZero(const Value *V) {
  auto *Constant = dyn_cast<ConstantInt>(V);
  return Constant && Constant->isZero();
}

// The bit above the number says that it is in a reverse sweep (rules/barrier.cu).
bool isBarrierOfAll(const Value *Number) {
  auto *Constant = dyn_cast<ConstantInt>(Number);
  return Constant && (Constant->getZExtValue() & 15) == 0 && Constant->getZExtValue() < GridBarrier;
}

// Whether loops over the threads can do what the instruction does.
bool canBeSplit(const Instruction &I) {
  StringRef Name = calleeName(I);
  if (waitsForBlock(I))
    return Name != "adgen_barrier_arrive" && isBarrierOfAll(I.getOperand(1)) && isZero(I.getOperand(2));
  if (Name.starts_with("adgen_warp_") || Name == "adgen_pause" || I.getType()->isTokenTy())
    return false;
  if (auto *Alloca = dyn_cast<AllocaInst>(&I))
    return Alloca->isStaticAlloca();
  if (auto *Call = dyn_cast<CallInst>(&I)) // a function that calls itself may need a stack of any size
    return Call->getCalledFunction() && Call->getCalledFunction()->isDeclaration();
  return !I.isTerminator() || isa<BranchInst, SwitchInst, ReturnInst, UnreachableInst>(I);
}

// Uniform blocks that follow each other, with the divergent ones between them: all that a thread does from one place to
// the next at which the block decides or waits.
struct Region {
  BasicBlock *Head = nullptr, *Tail = nullptr; // uniform
  SetVector<BasicBlock *> Blocks;
  bool Decides = false;       // the tail's terminator, for all threads; else threads come to the exit on different ways
  BasicBlock *Exit = nullptr; // where there is only one
  BasicBlock *Begin = nullptr, *End = nullptr; // of the made code
};

class Splitter {
public:
  Splitter(Function &Each, bool IsGradient, bool Alone, std::string Name)
      : M(*Each.getParent()), Context(M.getContext()), IsGradient(IsGradient), Alone(Alone), Name(std::move(Name)) {
    ValueToValueMapTy Map;
    Work = CloneFunction(&Each, Map);
  }

  // The function of a block, or null. `ScratchBytes` is what it needs for each thread, at least.
  Function *run(uint64_t &ScratchBytes) {
    bool Possible = Work->getInstructionCount() <= Most && all_of(instructions(*Work), canBeSplit);
    Function *Made = Possible && prepare() ? make() : nullptr;
    Work->eraseFromParent();
    ScratchBytes = std::max(ScratchBytes, SlotBytes);
    return Made;
  }

private:
  // ---- The function of one thread gets a form in which regions can be seen.

  bool prepare() {
    stripDebugInfo(*Work);
    removeUnreachableBlocks(*Work);
    unifyReturns();
    isolateBarriers();
    analyse();
    if (!barriersAreUniform())
      return false;
    splitEdges();
    analyse();
    return formRegions();
  }

  void analyse() {
    Threads.emplace(*Work, kindOf);
    Tree.recalculate(*Work);
  }

  void unifyReturns() {
    SmallVector<ReturnInst *> Returns;
    for (BasicBlock &Block : *Work)
      if (auto *Return = dyn_cast<ReturnInst>(Block.getTerminator()))
        Returns.push_back(Return);
    auto *End = BasicBlock::Create(Context, "end", Work);
    ReturnInst::Create(Context, End);
    for (ReturnInst *Return : Returns) {
      BranchInst::Create(End, Return->getIterator());
      Return->eraseFromParent();
    }
  }

  void isolateBarriers() {
    SmallVector<Instruction *> Barriers;
    for (Instruction &I : instructions(*Work))
      if (waitsForBlock(I))
        Barriers.push_back(&I);
    for (Instruction *Barrier : Barriers) {
      BasicBlock *Own = SplitBlock(Barrier->getParent(), Barrier);
      SplitBlock(Own, Barrier->getNextNode());
    }
  }

  bool barriersAreUniform() const {
    for (const Instruction &I : instructions(*Work))
      if ((waitsForBlock(I) || isa<ReturnInst>(I)) && Threads->isDivergent(I.getParent()))
        return false;
    return true;
  }

  // A block that decides for all threads leads to uniform blocks only, and what it hands to one of them may be handed
  // over before it decides.
  void splitEdges() {
    SmallVector<std::pair<BasicBlock *, BasicBlock *>> Edges;
    for (BasicBlock &Block : *Work) {
      if (Threads->isDivergent(&Block) || succ_size(&Block) < 2 || decidesApart(Block))
        continue;
      SmallSetVector<BasicBlock *, 4> Ways(succ_begin(&Block), succ_end(&Block));
      for (BasicBlock *To : Ways)
        if (Threads->isDivergent(To) || any_of(To->phis(), [&](PHINode &Phi) { return isNeededElsewhere(Phi, Ways); }))
          Edges.push_back({&Block, To});
    }
    for (auto &[From, To] : Edges)
      SplitBlockPredecessors(To, {From}, ".edge");
  }

  // Whether threads take different ways at the end of the block.
  bool decidesApart(const BasicBlock &Block) const {
    const Instruction *End = Block.getTerminator();
    return any_of(End->operands(), [&](const Use &U) { return !Threads->isUniform(U.get()); });
  }

  // Whether the phi's present value is used on another way than the one to its block.
  bool isNeededElsewhere(PHINode &Phi, const SmallSetVector<BasicBlock *, 4> &Ways) const {
    if (Threads->isUniform(&Phi))
      return false;
    SmallPtrSet<const BasicBlock *, 8> Using;
    for (const Use &U : Phi.uses()) {
      auto *I = cast<Instruction>(U.getUser());
      auto *Into = dyn_cast<PHINode>(I);
      Using.insert(Into ? Into->getIncomingBlock(U) : I->getParent());
    }
    SmallPtrSet<const BasicBlock *, 16> Seen{Phi.getParent()};
    SmallVector<const BasicBlock *> Next;
    for (const BasicBlock *Way : Ways)
      if (Seen.insert(Way).second)
        Next.push_back(Way);
    while (!Next.empty()) {
      const BasicBlock *Block = Next.pop_back_val();
      if (Using.contains(Block))
        return true;
      for (const BasicBlock *Following : successors(Block))
        if (Seen.insert(Following).second)
          Next.push_back(Following);
    }
    return false;
  }

  // ---- Regions.

  bool formRegions() {
    ReversePostOrderTraversal<Function *> Order(Work);
    for (BasicBlock *Block : Order)
      Rank.insert({Block, Rank.size()});
    SmallPtrSet<BasicBlock *, 16> Taken;
    for (BasicBlock *Block : Order) {
      if (Threads->isDivergent(Block) || Taken.contains(Block))
        continue;
      auto R = std::make_unique<Region>();
      R->Head = Block;
      for (BasicBlock *Next = Block; Next; Next = continues(*R) ? R->Exit : nullptr) {
        Taken.insert(Next);
        if (!append(*R, *Next))
          return false;
      }
      SmallVector<BasicBlock *> Sorted(R->Blocks.begin(), R->Blocks.end());
      sort(Sorted, [&](BasicBlock *A, BasicBlock *B) { return Rank[A] < Rank[B]; });
      R->Blocks = SetVector<BasicBlock *>(Sorted.begin(), Sorted.end());
      ByHead[Block] = R.get();
      ByTail[R->Tail] = R.get();
      Regions.push_back(std::move(R));
    }
    return all_of(Regions, [&](const auto &R) { return isOrderly(*R); });
  }

  // Adds a uniform block and the divergent ones that follow it. False where threads go on from there in different
  // places.
  bool append(Region &R, BasicBlock &Block) {
    SmallSetVector<BasicBlock *, 4> Exits;
    SetVector<BasicBlock *> Added;
    Added.insert(&Block);
    for (unsigned I = 0; I < Added.size(); ++I)
      for (BasicBlock *Next : successors(Added[I]))
        Threads->isDivergent(Next) ? Added.insert(Next) : Exits.insert(Next);
    R.Tail = &Block;
    R.Decides = Added.size() == 1 && !decidesApart(Block);
    R.Exit = Exits.size() == 1 ? Exits.front() : nullptr;
    R.Blocks.insert(Added.begin(), Added.end());
    return R.Decides || R.Exit;
  }

  // Whether the block behind the region belongs to it: nothing else leads there, and it reads nothing that the region
  // may have written.
  bool continues(const Region &R) const {
    BasicBlock *Next = R.Exit;
    if (!Next || waitsForBlock(Next->front()) || waitsForBlock(R.Head->front()))
      return false;
    return Next != R.Head && comesFrom(*Next, R) &&
           all_of(R.Blocks, [&](BasicBlock *Block) { return Block == R.Head || comesFrom(*Block, R); }) &&
           none_of(*Next, [&](Instruction &I) {
             return I.mayReadFromMemory() && !I.getType()->isVoidTy() && Threads->isUniform(&I);
           });
  }

  // Divergent blocks may be part of several regions.
  static bool comesFrom(BasicBlock &Block, const Region &R) {
    return all_of(predecessors(&Block), [&](BasicBlock *From) { return R.Blocks.contains(From); });
  }

  // What the making of code relies on.
  bool isOrderly(const Region &R) const {
    for (BasicBlock *Block : R.Blocks) {
      if (Block != R.Head && Tree.dominates(Block, R.Head))
        return false;
      for (PHINode &Phi : Block->phis())
        if (Threads->isUniform(&Phi))
          for (BasicBlock *From : Phi.blocks())
            if (Threads->isDivergent(From))
              return false;
    }
    return true;
  }

  // ---- What a thread keeps.

  // Whether the value is had again from what is uniform and from the thread's index, without memory.
  bool isCheap(const Value *V) {
    if (!isa<Instruction>(V) || Threads->isUniform(V) || isa<AllocaInst>(V))
      return true;
    auto [At, New] = Cheap.insert({V, false});
    if (!New)
      return At->second;
    auto *I = cast<Instruction>(V);
    bool Simple = isa<CastInst, GetElementPtrInst, ICmpInst, SelectInst, FreezeInst>(I) ||
                  (isa<BinaryOperator>(I) && I->getType()->isIntOrIntVectorTy() && !I->isIntDivRem());
    bool Result = Simple && !(isa<SelectInst>(I) && I->getType()->isFPOrFPVectorTy()) &&
                  all_of(I->operands(), [&](const Use &U) { return isCheap(U.get()); });
    Cheap[V] = Result;
    return Result;
  }

  void findSlots() {
    for (auto &R : Regions) {
      for (BasicBlock *Block : R->Blocks)
        for (Instruction &I : *Block) {
          if (isHint(I) || (isa<PHINode>(I) && Block == R->Head))
            continue;
          for (Use &U : I.operands())
            if (!isa<PHINode>(I) || R->Blocks.contains(cast<PHINode>(I).getIncomingBlock(U)))
              need(U.get(), *R);
        }
      for (PHINode *Phi : phisBehind(*R))
        for (auto [V, From] : zip(Phi->incoming_values(), Phi->blocks()))
          if (R->Blocks.contains(From))
            need(V.get(), *R);
      for (PHINode &Phi : R->Head->phis())
        if (!Threads->isUniform(&Phi) && !Phi.use_empty())
          giveSlot(&Phi);
    }
  }

  void need(Value *V, const Region &R) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || Threads->isUniform(I))
      return;
    if (isa<AllocaInst>(I))
      return giveSlot(I);
    if (R.Blocks.contains(I->getParent()))
      return;
    if (!isCheap(I))
      return giveSlot(I);
    for (Use &U : I->operands())
      need(U.get(), R);
  }

  void giveSlot(Instruction *I) {
    if (!Slots.insert({I, SlotBytes}).second)
      return;
    uint64_t Bytes = slotSize(*I);
    SlotBytes += isa<AllocaInst>(I) ? Bytes : PowerOf2Ceil(Bytes);
  }

  uint64_t slotSize(const Instruction &I) const {
    const DataLayout &Layout = M.getDataLayout();
    if (auto *Alloca = dyn_cast<AllocaInst>(&I))
      return alignTo(Alloca->getAllocationSize(Layout)->getFixedValue(), std::max(Alloca->getAlign(), Align(16)));
    return Layout.getTypeAllocSize(slotType(I));
  }

  Type *slotType(const Instruction &I) const {
    return I.getType()->isIntegerTy(1) ? Type::getInt8Ty(Context) : I.getType();
  }

  // Phis that differ, at the places to which the region leads.
  SmallVector<PHINode *> phisBehind(const Region &R) const {
    SmallSetVector<BasicBlock *, 4> Exits;
    if (R.Exit)
      Exits.insert(R.Exit);
    else
      Exits.insert(succ_begin(R.Tail), succ_end(R.Tail));
    SmallVector<PHINode *> Phis;
    for (BasicBlock *Exit : Exits)
      for (PHINode &Phi : Exit->phis())
        if (!Threads->isUniform(&Phi) && !Phi.use_empty())
          Phis.push_back(&Phi);
    return Phis;
  }

  // ---- The function of a block.

  Function *make() {
    findSlots();
    nameSlots();
    create();
    for (auto &R : Regions) {
      R->Begin = BasicBlock::Create(Context, R->Head->getName(), Made);
      for (PHINode &Phi : R->Head->phis())
        if (Threads->isUniform(&Phi))
          Common[&Phi] = PHINode::Create(Phi.getType(), Phi.getNumIncomingValues(), Phi.getName(), R->Begin);
    }
    IRBuilder<> B(&Made->getEntryBlock());
    loadExtents(B);
    B.CreateBr(ByHead[&Work->getEntryBlock()]->Begin);
    for (auto &R : Regions)
      emit(*R);
    for (auto &R : Regions)
      for (PHINode &Phi : R->Head->phis())
        if (Threads->isUniform(&Phi))
          for (auto [V, From] : zip(Phi.incoming_values(), Phi.blocks()))
            cast<PHINode>(Common[&Phi])->addIncoming(common(V), ByTail[From]->End);
    if (!verifyFunction(*Made, &errs()))
      return Made;
    report_fatal_error("adgen-barrier-loop-fission: made a function that is not valid: " + Made->getName());
  }

  void create() {
    Type *Pointer = PointerType::getUnqual(Context), *Int32 = Type::getInt32Ty(Context);
    auto *Type = FunctionType::get(llvm::Type::getVoidTy(Context),
                                   {Pointer, Pointer, Pointer, Pointer, Int32, Int32, Int32}, false);
    Made = Function::Create(Type, GlobalValue::InternalLinkage, Name, &M);
    for (StringRef Attribute : {"target-cpu", "target-features", "frame-pointer"})
      if (Work->hasFnAttribute(Attribute))
        Made->addFnAttr(Work->getFnAttribute(Attribute));
    Made->addParamAttr(Shared, Attribute::NoAlias); // the runtime's own memory
    Made->addParamAttr(Handle, Attribute::NoAlias); // scratch memory here
    BasicBlock::Create(Context, "entry", Made);
    for (unsigned I = 0; I < ThreadX; ++I)
      Common[Work->getArg(I)] = Made->getArg(I);
  }

  void loadExtents(IRBuilder<> &B) {
    for (unsigned I = 0; I < 3; ++I) {
      Value *At = B.CreateConstInBoundsGEP1_64(B.getInt32Ty(), Made->getArg(Launch), 3 + I);
      Extents[I] = B.CreateLoad(B.getInt32Ty(), At, "extent");
    }
    Count = B.CreateMul(Extents[0], B.CreateMul(Extents[1], Extents[2]));
    Value *Wide = B.CreateZExt(Count, B.getInt64Ty());
    Padded = B.CreateAnd(B.CreateAdd(Wide, B.getInt64(63)),
                         B.getInt64(~uint64_t(63))); // as the runtime allots scratch memory
  }

  // What is the same for all threads, in the made function.
  Value *common(Value *V) const {
    auto At = Common.find(V);
    return At == Common.end() ? V : At->second;
  }

  void emit(Region &R) {
    IRBuilder<> B(R.Begin);
    for (BasicBlock *Block : R.Blocks)
      if (!Threads->isDivergent(Block))
        for (Instruction &I : *Block)
          emitCommon(B, R, I);
    if (auto *Barrier = dyn_cast<CallInst>(&R.Head->front());
        Barrier && waitsForBlock(*Barrier) && !Barrier->getType()->isVoidTy())
      emitCount(B, R, *Barrier);
    else if (hasOwnWork(R))
      emitLoops(B, R, nullptr);
    R.End = B.GetInsertBlock();
    if (R.Decides) {
      Instruction *End = B.Insert(R.Tail->getTerminator()->clone());
      for (Use &U : End->operands())
        if (auto *Next = dyn_cast<BasicBlock>(U.get()))
          U.set(ByHead[Next]->Begin);
        else
          U.set(common(U.get()));
    } else {
      B.CreateBr(ByHead[R.Exit]->Begin);
    }
  }

  bool isCommon(const Instruction &I) const {
    return !I.getType()->isVoidTy() && !I.isTerminator() && Threads->isUniform(&I);
  }

  void emitCommon(IRBuilder<> &B, const Region &R, Instruction &I) {
    if (!isCommon(I) || waitsForBlock(I) || isHint(I))
      return;
    if (auto *Phi = dyn_cast<PHINode>(&I)) {
      if (Phi->getParent() != R.Head) // one block leads here
        Common[Phi] = common(Phi->getIncomingValue(0));
      return;
    }
    if (calleeName(I) == DynamicBytes) {
      Common[&I] = dynamicBytes(B);
      return;
    }
    Instruction *New = B.Insert(I.clone(), I.getName());
    for (Use &U : New->operands())
      U.set(common(U.get()));
    Common[&I] = New;
  }

  // As Block::dynamicBytes of the host's runtime gives them.
  Value *dynamicBytes(IRBuilder<> &B) const {
    Value *At = B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Made->getArg(Launch), 24);
    Value *Bytes = B.CreateTrunc(B.CreateLoad(B.getInt64Ty(), At), B.getInt32Ty());
    return IsGradient ? B.CreateShl(Bytes, 1) : Bytes;
  }

  // Whether each thread has something to do in the region.
  bool hasOwnWork(const Region &R) const {
    if (!phisBehind(R).empty())
      return true;
    for (BasicBlock *Block : R.Blocks)
      for (Instruction &I : *Block)
        if (!I.isTerminator() && !isCommon(I) && !isHint(I) && !waitsForBlock(I) && !isa<AllocaInst>(I) &&
            !isa<PHINode>(I))
          return true;
    return false;
  }

  // A barrier that counts predicates.
  void emitCount(IRBuilder<> &B, Region &R, CallInst &Barrier) {
    IRBuilder<> Start(&Made->getEntryBlock(), Made->getEntryBlock().begin());
    Value *Sum = Start.CreateAlloca(B.getInt32Ty(), nullptr, "count");
    B.CreateStore(B.getInt32(0), Sum);
    emitLoops(B, R, Sum);
    Value *Ones = B.CreateLoad(B.getInt32Ty(), Sum);
    if (calleeName(Barrier).ends_with("and"))
      Ones = B.CreateZExt(B.CreateICmpEQ(Ones, Count), B.getInt32Ty());
    Common[&Barrier] = Ones;
  }

  // for (z) for (y) for (x) what one thread does; then B is behind the loops.
  void emitLoops(IRBuilder<> &B, Region &R, Value *Sum) {
    Type *Int64 = B.getInt64Ty();
    Value *Index[3];
    BasicBlock *Heads[3];
    for (int I = 2; I >= 0; --I) {
      BasicBlock *Before = B.GetInsertBlock();
      Heads[I] = BasicBlock::Create(Context, "threads", Made);
      B.CreateBr(Heads[I]);
      B.SetInsertPoint(Heads[I]);
      PHINode *Phi = B.CreatePHI(B.getInt32Ty(), 2, "thread");
      Phi->addIncoming(B.getInt32(0), Before);
      Index[I] = Phi;
      if (I == 1) {
        Value *Row = B.CreateAdd(B.CreateMul(Index[2], Extents[1]), Phi);
        RowBegin = B.CreateMul(B.CreateZExt(Row, Int64), B.CreateZExt(Extents[0], Int64), "row");
      }
      Own[Work->getArg(ThreadX + I)] = Phi;
    }
    Linear = B.CreateAdd(RowBegin, B.CreateZExt(Index[0], Int64), "linear", true, true);
    BasicBlock *Last = emitThread(B, R, Sum);
    B.SetInsertPoint(Last);
    for (int I = 0; I < 3; ++I) {
      Value *Next = B.CreateAdd(Index[I], B.getInt32(1), "next", true, true);
      cast<PHINode>(Index[I])->addIncoming(Next, B.GetInsertBlock());
      auto *After = BasicBlock::Create(Context, "done", Made);
      BranchInst *Back = B.CreateCondBr(B.CreateICmpULT(Next, Extents[I]), Heads[I], After);
      if (I == 0 && Group)
        Back->setMetadata(LLVMContext::MD_loop, parallelLoop());
      B.SetInsertPoint(After);
    }
    Own.clear();
  }

  MDNode *parallelLoop() {
    Metadata *Parallel[] = {MDString::get(Context, "llvm.loop.parallel_accesses"), Group};
    Metadata *Parts[] = {nullptr, MDNode::get(Context, Parallel)};
    MDNode *Loop = MDNode::getDistinct(Context, Parts);
    Loop->replaceOperandWith(0, Loop);
    return Loop;
  }

  // What one thread does in the region; gives the block that ends it. Threads do not race, but for atomic operations:
  // without these its accesses to memory are marked as those of a parallel loop.
  BasicBlock *emitThread(IRBuilder<> &B, Region &R, Value *Sum) {
    bool Parallel = !Sum && none_of(R.Blocks, [](BasicBlock *Block) {
      return any_of(*Block, [](Instruction &I) { return I.isAtomic(); });
    });
    Group = Parallel ? MDNode::getDistinct(Context, {}) : nullptr;
    auto *Last = BasicBlock::Create(Context, "last", Made);
    BasicBlock *Top = B.GetInsertBlock();
    DenseMap<BasicBlock *, BasicBlock *> Copies;
    for (BasicBlock *Block : R.Blocks)
      Copies[Block] = BasicBlock::Create(Context, Block->getName(), Made, Last);
    TopEnd = BranchInst::Create(Copies[R.Head], Top);
    for (PHINode &Phi : R.Head->phis())
      if (!Threads->isUniform(&Phi) && !Phi.use_empty())
        Own[&Phi] = loadSlot(&Phi);
    for (BasicBlock *Block : R.Blocks)
      for (Instruction &I : *Block)
        copy(I, R, *Copies[Block]);
    for (BasicBlock *Block : R.Blocks)
      finish(*Block, R, Copies, *Last);
    B.SetInsertPoint(Last);
    storePhis(B, R, Copies);
    if (Sum) {
      Value *Holds = B.CreateICmpNE(own(R.Head->front().getOperand(3)), B.getInt32(0));
      B.CreateStore(B.CreateAdd(B.CreateLoad(B.getInt32Ty(), Sum), B.CreateZExt(Holds, B.getInt32Ty())), Sum);
    }
    return Last;
  }

  void copy(Instruction &I, const Region &R, BasicBlock &Into) {
    bool AtHead = isa<PHINode>(I) && I.getParent() == R.Head;
    if (AtHead || I.isTerminator() || isCommon(I) || isHint(I) || waitsForBlock(I) || isa<AllocaInst>(I))
      return;
    IRBuilder<> B(&Into);
    Instruction *New;
    if (auto *Phi = dyn_cast<PHINode>(&I)) {
      New = B.CreatePHI(Phi->getType(), Phi->getNumIncomingValues(), Phi->getName());
    } else if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I); Atomic && needsNotBeAtomic(*Atomic)) {
      New = addPlainly(B, *Atomic);
    } else if (Atomic && isTakenInTurn(*Atomic)) {
      New = takeInTurn(B, *Atomic);
    } else {
      New = B.Insert(I.clone(), I.getName());
      for (Use &U : New->operands())
        U.set(own(U.get()));
      mark(New);
      tellFromSlots(*New);
    }
    Own[&I] = New;
    if (!isa<PHINode>(I) && Slots.contains(&I))
      storeSlot(B, &I, New);
  }

  // One thread of the operating system runs the block: additions to shared memory need not be atomic, and where it is
  // alone, none need.
  bool needsNotBeAtomic(const AtomicRMWInst &Atomic) const {
    bool InShared = getUnderlyingObject(Atomic.getPointerOperand(), 0) == Work->getArg(Shared);
    AtomicRMWInst::BinOp Op = Atomic.getOperation();
    return (Alone || InShared) && (Op == AtomicRMWInst::FAdd || Op == AtomicRMWInst::Add);
  }

  // Threads of the block come one after the other to a cotangent that one of them takes.
  bool isTakenInTurn(const AtomicRMWInst &Atomic) const {
    bool InShared = getUnderlyingObject(Atomic.getPointerOperand(), 0) == Work->getArg(Shared);
    return Atomic.getOperation() == AtomicRMWInst::Xchg && isa<ConstantFP>(Atomic.getValOperand()) &&
           (InShared || Atomic.hasMetadata(BlocksOwnMark));
  }

  // Not accesses of a parallel loop: threads may meet there.
  Instruction *takeInTurn(IRBuilder<> &B, AtomicRMWInst &Exchange) {
    LoadInst *Taken = takePlainly(B, Exchange, own(Exchange.getPointerOperand()));
    tellFromSlots(*Taken);
    tellFromSlots(*cast<StoreInst>(Taken->getNextNode()));
    return Taken;
  }

  Instruction *addPlainly(IRBuilder<> &B, AtomicRMWInst &Atomic) {
    Value *At = own(Atomic.getPointerOperand()), *Addend = own(Atomic.getValOperand());
    LoadInst *Old = B.CreateAlignedLoad(Atomic.getType(), At, Atomic.getAlign());
    Value *New =
        Atomic.getType()->isFloatingPointTy() ? B.CreateFAddFMF(Old, Addend, inAnyOrder()) : B.CreateAdd(Old, Addend);
    StoreInst *Store = B.CreateAlignedStore(New, At, Atomic.getAlign());
    for (Instruction *Access : {static_cast<Instruction *>(Old), static_cast<Instruction *>(Store)})
      Access->setAAMetadata(Atomic.getAAMetadata());
    tellFromSlots(*Old);
    tellFromSlots(*Store);
    return Old;
  }

  // Terminators, and what phis get.
  void finish(BasicBlock &Block, const Region &R, DenseMap<BasicBlock *, BasicBlock *> &Copies, BasicBlock &Last) {
    BasicBlock *Copy = Copies[&Block];
    IRBuilder<> B(Copy);
    if (&Block == R.Tail && R.Decides) {
      B.CreateBr(&Last);
    } else {
      Instruction *End = B.Insert(Block.getTerminator()->clone());
      for (Use &U : End->operands())
        if (auto *Next = dyn_cast<BasicBlock>(U.get()))
          U.set(Next != R.Head && R.Blocks.contains(Next) ? Copies[Next] : &Last);
        else
          U.set(own(U.get()));
    }
    if (&Block == R.Head)
      return;
    for (PHINode &Phi : Block.phis()) {
      if (isCommon(Phi))
        continue;
      auto *New = cast<PHINode>(Own[&Phi]);
      for (auto [V, From] : zip(Phi.incoming_values(), Phi.blocks()))
        if (R.Blocks.contains(From))
          New->addIncoming(own(V), Copies[From]);
      if (Slots.contains(&Phi)) {
        IRBuilder<> After(Copy, Copy->getFirstInsertionPt());
        storeSlot(After, &Phi, New);
      }
    }
  }

  // What the phis at the region's exits will be.
  void storePhis(IRBuilder<> &B, const Region &R, const DenseMap<BasicBlock *, BasicBlock *> &Copies) {
    SmallVector<std::pair<PHINode *, Value *>> Stores;
    for (PHINode *Phi : phisBehind(R)) {
      if (R.Decides) {
        Stores.push_back({Phi, own(Phi->getIncomingValueForBlock(R.Tail))});
        continue;
      }
      auto *Joined = PHINode::Create(Phi->getType(), 2, Phi->getName());
      Joined->insertInto(B.GetInsertBlock(), B.GetInsertBlock()->begin());
      for (BasicBlock *From : R.Blocks)
        for (BasicBlock *Next : successors(Copies.lookup(From)))
          if (Next == B.GetInsertBlock())
            Joined->addIncoming(own(Phi->getIncomingValueForBlock(From)), Copies.lookup(From));
      Stores.push_back({Phi, Joined});
    }
    for (auto [Phi, V] : Stores)
      storeSlot(B, Phi, V);
  }

  // A value as the present thread has it, in the loop that is being made.
  Value *own(Value *V) {
    if (auto At = Own.find(V); At != Own.end())
      return At->second;
    auto *I = dyn_cast<Instruction>(V);
    if (!I || Threads->isUniform(I))
      return common(V);
    if (isa<AllocaInst>(I))
      return Own[I] = slotAddress(I);
    if (!isCheap(I))
      return Own[I] = loadSlot(I);
    Instruction *New = I->clone();
    for (Use &U : New->operands())
      U.set(own(U.get()));
    New->insertBefore(TopEnd->getIterator());
    return Own[I] = New;
  }

  Value *slotAddress(Instruction *I) {
    IRBuilder<> B(TopEnd);
    Value *Begin =
        B.CreateInBoundsGEP(B.getInt8Ty(), Made->getArg(Handle), B.CreateMul(Padded, B.getInt64(Slots.lookup(I))));
    if (isa<AllocaInst>(I))
      return B.CreateInBoundsGEP(B.getInt8Ty(), Begin, B.CreateMul(Linear, B.getInt64(slotSize(*I))));
    return B.CreateInBoundsGEP(slotType(*I), Begin, Linear);
  }

  Value *loadSlot(Instruction *I) {
    Value *At = slotAddress(I);
    IRBuilder<> B(TopEnd);
    LoadInst *Load = B.CreateLoad(slotType(*I), At, I->getName());
    mark(Load);
    tellApart(*Load, I);
    return I->getType()->isIntegerTy(1) ? B.CreateTrunc(Load, I->getType()) : Load;
  }

  void storeSlot(IRBuilder<> &B, Instruction *I, Value *V) {
    Value *At = slotAddress(I);
    StoreInst *Store = B.CreateStore(I->getType()->isIntegerTy(1) ? B.CreateZExt(V, B.getInt8Ty()) : V, At);
    mark(Store);
    tellApart(*Store, I);
  }

  // What is kept of one value, in an array with one element a thread, overlaps nothing else, although all arrays lie in
  // one piece of memory. Local variables of threads are reached by their addresses too.
  void nameSlots() {
    MDBuilder Builder(Context);
    MDNode *Domain = Builder.createAnonymousAliasScopeDomain("kept");
    for (auto &[I, At] : Slots)
      if (!isa<AllocaInst>(I))
        Scopes.insert({I, Builder.createAnonymousAliasScope(Domain)});
  }

  void tellApart(Instruction &Access, const Instruction *Slot) {
    SmallVector<Metadata *> Others;
    for (auto &[I, Scope] : Scopes)
      if (I != Slot)
        Others.push_back(Scope);
    if (MDNode *Own = Scopes.lookup(Slot))
      Access.setMetadata(LLVMContext::MD_alias_scope, MDNode::get(Context, Own));
    tellFrom(Access, Others);
  }

  void tellFromSlots(Instruction &Access) {
    if (Access.mayReadOrWriteMemory())
      tellApart(Access, nullptr);
  }

  void tellFrom(Instruction &Access, ArrayRef<Metadata *> Others) {
    if (!Others.empty())
      Access.setMetadata(LLVMContext::MD_noalias, MDNode::concatenate(Access.getMetadata(LLVMContext::MD_noalias),
                                                                      MDNode::get(Context, Others)));
  }

  void mark(Instruction *I) {
    if (Group && I->mayReadOrWriteMemory())
      I->setMetadata(LLVMContext::MD_access_group, Group);
  }

  Module &M;
  LLVMContext &Context;
  bool IsGradient, Alone;
  std::string Name;
  Function *Work, *Made = nullptr;

  std::optional<Uniformity> Threads;
  DominatorTree Tree;
  DenseMap<BasicBlock *, unsigned> Rank;
  std::vector<std::unique_ptr<Region>> Regions;
  DenseMap<BasicBlock *, Region *> ByHead, ByTail;

  DenseMap<const Value *, bool> Cheap;
  MapVector<const Instruction *, uint64_t> Slots; // what is kept, and how many bytes a thread others take before it
  uint64_t SlotBytes = 0;
  MapVector<const Instruction *, MDNode *> Scopes; // of what is kept, for alias analysis

  DenseMap<Value *, Value *> Common; // for all threads
  DenseMap<Value *, Value *> Own;    // for the thread of the loop that is being made
  Value *Extents[3] = {}, *Count = nullptr, *Padded = nullptr, *RowBegin = nullptr, *Linear = nullptr;
  Instruction *TopEnd = nullptr;
  MDNode *Group = nullptr;
};

// The members of adgen_cooperative.
enum { Each, EachAlone, Split, SplitAlone, ScratchBytes, StaticBytes, WithShadows };

void split(GlobalVariable &Description) {
  auto *Old = cast<ConstantStruct>(Description.getInitializer());
  SmallVector<Constant *> Members;
  for (Use &U : Old->operands())
    Members.push_back(cast<Constant>(U.get()));
  auto *Thread = cast<Function>(Members[Each]);
  StringRef Symbol = Thread->getName();
  Symbol.consume_back(EachSuffix);
  bool IsGradient = !cast<Constant>(Members[WithShadows])->isNullValue();
  uint64_t Scratch = 0;
  Function *Block = Splitter(*Thread, IsGradient, false, (Symbol + "_split").str()).run(Scratch);
  if (!Block)
    return;
  Members[Split] = Block;
  Members[SplitAlone] = Splitter(*Thread, IsGradient, true, (Symbol + "_split_alone").str()).run(Scratch);
  Members[ScratchBytes] = ConstantInt::get(Members[ScratchBytes]->getType(), Scratch);
  Description.setInitializer(ConstantStruct::get(Old->getType(), Members));
}

} // namespace

ADGEN_DECLARE_PASS(BarrierLoopFission);

PreservedAnalyses BarrierLoopFission::run(Module &M, ModuleAnalysisManager &) {
  SmallVector<GlobalVariable *> Descriptions;
  for (GlobalVariable &Global : M.globals())
    if (Global.getName().ends_with(CooperativeSuffix))
      Descriptions.push_back(&Global);
  for (GlobalVariable *Description : Descriptions)
    split(*Description);
  return PreservedAnalyses::none();
}

} // namespace adgen
