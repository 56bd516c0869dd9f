@echo off
rem A database, its log, and a disk.
.\diskspd.exe -b8K -d60 -W5 -C5 -o32 -t4 -r4K -rs90 -w30 -L -D -Sh -c10G F:\data.dat > data.txt
& "C:\Program Files\diskspd.exe" -b64K -si -t2 -o4 -w100 -Z1G -g100i -i10 -j5 -Suw -B1M:1G G:\log.dat
diskspd -F4 -O16 -a0,g0,1 -rdpct90/10:0/10:5/20 -r -z7 -xk -fr %MORE% `-p$p '#1' ^
  \\server\share\x.dat 2>&1 | more
