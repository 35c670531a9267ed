"""MemorizationLab: which metric notices a generator that copies?"""
