# Writes the parameter files of three Vdbench workloads for a cluster: 3 machines, 2 volumes.
# Usage: bash cluster-workloads.sh; then vdbench -f mix.parm

{
    echo "hd=default,jvms=1,shell=ssh"
    for machine in 1 2 3; do
        echo "hd=m${machine},system=bench-${machine}.example.com,user=bench"
    done
} > hosts.parm

{
    echo "sd=default,size=200g"
    for machine in 1 2 3; do
        for volume in 1 2; do
            lun=/mnt/vol${volume}/m${machine}.dat
            echo "sd=sd-${machine}-${volume},host=m${machine},lun=${lun},openflags=o_direct"
        done
    done
} > luns.parm

for name in fill write mix; do
    echo "include=hosts.parm" > $name.parm
    echo "include=luns.parm" >> $name.parm
done

# Every file once, from its start to its end.
echo "wd=fill,sd=sd*,rdpct=0,seekpct=eof,xfersize=64k" >> fill.parm
echo 'rd=fill_all,wd=fill,sd=("sd*"),iorate=max,interval=1,forthreads=1,elapsed=86400' >> fill.parm

echo "wd=write,sd=sd*,rdpct=0,seekpct=0,xfersize=64k" >> write.parm
echo "wd=mix,sd=sd*,rdpct=70,seekpct=100,xfersize=8k" >> mix.parm
for name in write mix; do
    echo "* What both runs have" >> $name.parm
    echo "rd=default,warmup=60,elapsed=600,iorate=max" >> $name.parm
done
for threads in 4 8; do
    echo "rd=write_${threads},wd=write,sd=(\"sd*\"),threads=${threads}" >> write.parm
done
echo 'rd=mix_12,wd=mix,sd=("sd*"),threads=12' >> mix.parm
