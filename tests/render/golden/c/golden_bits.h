/*
 * Golden (an invented GPU): positions of fields.
 * Made by packsmith from golden.xml. Do not edit.
 *
 * Per field F of T: T_F_start, its first bit counted from the start of T (in a group: that of the
 * first item), and T_F_bits, its width.
 */
#ifndef PACKSMITH_GOLDEN_BITS_H_
#define PACKSMITH_GOLDEN_BITS_H_

#ifndef GOLDEN_VERTEX_BUFFER_length
#define GOLDEN_VERTEX_BUFFER_length 3
#endif
#define GOLDEN_VERTEX_BUFFER_Pitch_start 0
#define GOLDEN_VERTEX_BUFFER_Pitch_bits 12
#define GOLDEN_VERTEX_BUFFER_Null_start 13
#define GOLDEN_VERTEX_BUFFER_Null_bits 1
#define GOLDEN_VERTEX_BUFFER_StartingAddress_start 32
#define GOLDEN_VERTEX_BUFFER_StartingAddress_bits 64

#define GOLDEN_Rectangle_Left_start 0
#define GOLDEN_Rectangle_Left_bits 12
#define GOLDEN_Rectangle_Top_start 12
#define GOLDEN_Rectangle_Top_bits 12
#define GOLDEN_Rectangle_Right_start 24
#define GOLDEN_Rectangle_Right_bits 12
#define GOLDEN_Rectangle_Bottom_start 36
#define GOLDEN_Rectangle_Bottom_bits 12

#define GOLDEN_Count_Value_start 0
#define GOLDEN_Count_Value_bits 32

#ifndef GOLDEN_CACHE_MODE_length
#define GOLDEN_CACHE_MODE_length 1
#endif
#define GOLDEN_CACHE_MODE_DepthCacheDisable_start 3
#define GOLDEN_CACHE_MODE_DepthCacheDisable_bits 1
#define GOLDEN_CACHE_MODE_DepthCacheDisableMask_start 19
#define GOLDEN_CACHE_MODE_DepthCacheDisableMask_bits 1

#ifndef GOLDEN_3DSTATE_DEPTH_length
#define GOLDEN_3DSTATE_DEPTH_length 3
#endif
#define GOLDEN_3DSTATE_DEPTH_DWordLength_start 0
#define GOLDEN_3DSTATE_DEPTH_DWordLength_bits 8
#define GOLDEN_3DSTATE_DEPTH_DepthTestEnable_start 8
#define GOLDEN_3DSTATE_DEPTH_DepthTestEnable_bits 1
#define GOLDEN_3DSTATE_DEPTH_DepthTestFunction_start 9
#define GOLDEN_3DSTATE_DEPTH_DepthTestFunction_bits 3
#define GOLDEN_3DSTATE_DEPTH_Opcode_start 16
#define GOLDEN_3DSTATE_DEPTH_Opcode_bits 16
#define GOLDEN_3DSTATE_DEPTH_BiasConstant_start 32
#define GOLDEN_3DSTATE_DEPTH_BiasConstant_bits 32
#define GOLDEN_3DSTATE_DEPTH_TileMode_start 64
#define GOLDEN_3DSTATE_DEPTH_TileMode_bits 2
#define GOLDEN_3DSTATE_DEPTH_Layer_start 68
#define GOLDEN_3DSTATE_DEPTH_Layer_bits 11
#define GOLDEN_3DSTATE_DEPTH_Format_start 80
#define GOLDEN_3DSTATE_DEPTH_Format_bits 3

#ifndef GOLDEN_SURFACE_length
#define GOLDEN_SURFACE_length 4
#endif
#define GOLDEN_SURFACE_DWordLength_start 0
#define GOLDEN_SURFACE_DWordLength_bits 8
#define GOLDEN_SURFACE_Opcode_start 16
#define GOLDEN_SURFACE_Opcode_bits 16
#define GOLDEN_SURFACE_Width_start 32
#define GOLDEN_SURFACE_Width_bits 14
#define GOLDEN_SURFACE_Height_start 48
#define GOLDEN_SURFACE_Height_bits 14
#define GOLDEN_SURFACE_RowPitch_start 64
#define GOLDEN_SURFACE_RowPitch_bits 16
#define GOLDEN_SURFACE_Samples_start 80
#define GOLDEN_SURFACE_Samples_bits 3
#define GOLDEN_SURFACE_Registers_start 83
#define GOLDEN_SURFACE_Registers_bits 4
#define GOLDEN_SURFACE_MinLOD_start 96
#define GOLDEN_SURFACE_MinLOD_bits 12
#define GOLDEN_SURFACE_LODBias_start 108
#define GOLDEN_SURFACE_LODBias_bits 13
#define GOLDEN_SURFACE_Threads_start 121
#define GOLDEN_SURFACE_Threads_bits 7

#ifndef GOLDEN_SHADER_length
#define GOLDEN_SHADER_length 6
#endif
#define GOLDEN_SHADER_DWordLength_start 0
#define GOLDEN_SHADER_DWordLength_bits 8
#define GOLDEN_SHADER_Opcode_start 16
#define GOLDEN_SHADER_Opcode_bits 16
#define GOLDEN_SHADER_Kernel_start 38
#define GOLDEN_SHADER_Kernel_bits 26
#define GOLDEN_SHADER_ScratchSize_start 64
#define GOLDEN_SHADER_ScratchSize_bits 4
#define GOLDEN_SHADER_Scratch_start 74
#define GOLDEN_SHADER_Scratch_bits 54
#define GOLDEN_SHADER_Descriptors_start 133
#define GOLDEN_SHADER_Descriptors_bits 59

#ifndef GOLDEN_TABLES_length
#define GOLDEN_TABLES_length 30
#endif
#define GOLDEN_TABLES_DWordLength_start 0
#define GOLDEN_TABLES_DWordLength_bits 8
#define GOLDEN_TABLES_Opcode_start 16
#define GOLDEN_TABLES_Opcode_bits 16
#define GOLDEN_TABLES_Half_start 32
#define GOLDEN_TABLES_Half_bits 16
#define GOLDEN_TABLES_Row_start 64
#define GOLDEN_TABLES_Row_bits 32
#define GOLDEN_TABLES_Enable_start 576
#define GOLDEN_TABLES_Enable_bits 1
#define GOLDEN_TABLES_WriteMask_start 608
#define GOLDEN_TABLES_WriteMask_bits 4
#define GOLDEN_TABLES_Color_start 640
#define GOLDEN_TABLES_Color_bits 32
#define GOLDEN_TABLES_Vertices_start 736
#define GOLDEN_TABLES_Vertices_bits 96
#define GOLDEN_TABLES_X_start 832
#define GOLDEN_TABLES_X_bits 16
#define GOLDEN_TABLES_Y_start 848
#define GOLDEN_TABLES_Y_bits 16
#define GOLDEN_TABLES_Depth_start 864
#define GOLDEN_TABLES_Depth_bits 32
#define GOLDEN_TABLES_DepthBits_start 864
#define GOLDEN_TABLES_DepthBits_bits 32

#ifndef GOLDEN_STORE_DATA_length
#define GOLDEN_STORE_DATA_length 4
#endif
#define GOLDEN_STORE_DATA_DWordLength_start 0
#define GOLDEN_STORE_DATA_DWordLength_bits 8
#define GOLDEN_STORE_DATA_StoreQword_start 8
#define GOLDEN_STORE_DATA_StoreQword_bits 1
#define GOLDEN_STORE_DATA_Opcode_start 16
#define GOLDEN_STORE_DATA_Opcode_bits 16
#define GOLDEN_STORE_DATA_Address_start 34
#define GOLDEN_STORE_DATA_Address_bits 46
#define GOLDEN_STORE_DATA_Data_start 96
#define GOLDEN_STORE_DATA_Data_bits 64

#define GOLDEN_LOAD_REGISTERS_DWordLength_start 0
#define GOLDEN_LOAD_REGISTERS_DWordLength_bits 8
#define GOLDEN_LOAD_REGISTERS_ByteWriteDisables_start 8
#define GOLDEN_LOAD_REGISTERS_ByteWriteDisables_bits 4
#define GOLDEN_LOAD_REGISTERS_Opcode_start 16
#define GOLDEN_LOAD_REGISTERS_Opcode_bits 16
#define GOLDEN_LOAD_REGISTERS_Register_start 34
#define GOLDEN_LOAD_REGISTERS_Register_bits 21
#define GOLDEN_LOAD_REGISTERS_Data_start 64
#define GOLDEN_LOAD_REGISTERS_Data_bits 32

#define GOLDEN_VERTEX_BUFFERS_DWordLength_start 0
#define GOLDEN_VERTEX_BUFFERS_DWordLength_bits 8
#define GOLDEN_VERTEX_BUFFERS_Opcode_start 16
#define GOLDEN_VERTEX_BUFFERS_Opcode_bits 16
#define GOLDEN_VERTEX_BUFFERS_State_start 32
#define GOLDEN_VERTEX_BUFFERS_State_bits 96

#ifndef GOLDEN_END_length
#define GOLDEN_END_length 1
#endif
#define GOLDEN_END_Opcode_start 16
#define GOLDEN_END_Opcode_bits 16

#define GOLDEN_Draw_IndexFormat_start 0
#define GOLDEN_Draw_IndexFormat_bits 2
#define GOLDEN_Draw_InstancesPresent_start 2
#define GOLDEN_Draw_InstancesPresent_bits 1
#define GOLDEN_Draw_ScissorsPresent_start 3
#define GOLDEN_Draw_ScissorsPresent_bits 1
#define GOLDEN_Draw_ScissorCount_start 4
#define GOLDEN_Draw_ScissorCount_bits 4
#define GOLDEN_Draw_Opcode_start 16
#define GOLDEN_Draw_Opcode_bits 16

#endif /* PACKSMITH_GOLDEN_BITS_H_ */
