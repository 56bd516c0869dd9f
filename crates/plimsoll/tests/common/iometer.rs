//! A test configuration of Iometer, for tests that run one.

/// A configuration of one worker on a drive: 75 % random reads of 8 KiB, then reads of 64 KiB in
/// sequence.
pub(crate) const CONFIG: &str = "Version 1.1.0 \n\
    'TEST SETUP ====\n'Test Description\n\tnightly\n'Run Time\n\
    '\thours      minutes    seconds\n\t0          0          5\n'Ramp Up Time (s)\n\t1\n\
    'Test Type\n\tNORMAL\n'END test setup\n'ACCESS SPECIFICATIONS ====\n\
    'Access specification name,default assignment\n\t8K; 75% reads,NONE\n\
    'size,% of size,% reads,% random,delay,burst,align,reply\n\t8192,100,75,100,0,1,0,0\n\
    'Access specification name,default assignment\n\t64K; reads,NONE\n\
    'size,% of size,% reads,% random,delay,burst,align,reply\n\t65536,100,100,0,0,1,0,0\n\
    'END access specifications\n'MANAGER LIST ====\n'Manager ID, manager name\n\t1,HOST\n\
    'Manager network address\n\tlocalhost\n'Worker\n\tWorker 1\n'Worker type\n\tDISK\n\
    'Default target settings for worker\n\
    'Number of outstanding IOs,test connection rate,transactions per connection\n\
    \t32,DISABLED,1\n'Disk maximum size,starting sector\n\t2097152,0\n\
    'End default target settings for worker\n'Assigned access specs\n\t8K; 75% reads\n\
    \t64K; reads\n'End assigned access specs\n'Target assignments\n'Target\n\tC: \"data\"\n\
    'Target type\n\tDISK\n'End target\n'End target assignments\n'End worker\n'End manager\n\
    'END manager list\nVersion 1.1.0 \n";
